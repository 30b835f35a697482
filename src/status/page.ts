import { Hono } from 'hono';
import type { Context, HonoRequest } from 'hono';
import { getCookie } from 'hono/cookie';
import type { Admission, Webhook } from '../host/admit-webhook.ts';
import type { Health } from '../daemon/health.ts';
import type { StatusView } from '../daemon/view.ts';
import { limitedBody } from '../http/limited-body.ts';
import { serveHttp } from '../http/serve.ts';
import type { HttpLimits, HttpServer } from '../http/serve.ts';
import { showsToken } from './metrics/access.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { PageAccess } from './page-access.ts';
import { renderEntrance, renderPage } from './render-page.ts';

/** Where the page gets its content, and passes webhooks to. */
export interface PageSource {
  status(): Promise<StatusView>;
  health(): Health;
  receive(webhook: Webhook): Admission;
  readonly access: PageAccess;
  /** Absent: there is no `/metrics`. */
  readonly metrics?: Metrics & { readonly token: string };
}

export interface StatusPage extends HttpServer {
  /** An address that opens the page once, within five minutes. */
  link(): string;
}

interface Listen {
  readonly host: string;
  readonly port: number;
}

/**
 * Serves the status for people (`/`) and programs (`/status.json`) who prove that they may see it, says to everybody whether the daemon
 * works (`/healthz`), and accepts webhooks (`POST /webhooks`). Read-only. It refuses requests under another host name and requests from
 * other web pages: such a page could read the status through the browser of somebody on this machine (DNS rebinding).
 *
 * @param listen port 0 is any free port
 * @returns the port it listens on; disposal closes all connections
 * @throws the error of `listen`, such as EADDRINUSE
 */
export async function serveStatusPage(
  listen: Listen,
  source: PageSource,
  limits?: Partial<HttpLimits>,
): Promise<StatusPage> {
  const server = await serveHttp(createPage(listen, source).fetch, listen, limits);
  const address = pageAddress({ ...listen, port: server.port });
  return { ...server, link: () => `${address}open?code=${source.access.makeCode()}` };
}

/** Where a browser on this machine finds the page. */
export function pageAddress({ host, port }: Listen): string {
  const own = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${own.includes(':') ? `[${own}]` : own}:${port}/`;
}

function createPage(listen: Listen, source: PageSource): Hono {
  const app = new Hono();
  // Ahead of the host check: webhooks arrive through a proxy from another machine, and their signature proves the sender.
  app.post('/webhooks', (context) => takeWebhook(context, source));
  app.use(async (context, next) => {
    for (const [name, value] of Object.entries(protections)) context.header(name, value);
    if (!isOwnName(context.req.header('host') ?? '', listen.host))
      return context.text('Use the address of this page itself.\n', 421);
    if (isForeign(context.req, listen.host)) return context.text('Other web pages may not read this one.\n', 403);
    if (!['GET', 'HEAD'].includes(context.req.method))
      return context.text('This page is read-only.\n', 405, { allow: 'GET, HEAD' });
    return next();
  });
  // For everybody, so it says nothing else and costs nothing.
  app.get('/healthz', (context) => {
    const health = source.health();
    return context.text(`${health}\n`, health === 'ok' ? 200 : 503);
  });
  const { metrics } = source;
  if (metrics !== undefined)
    app.get('/metrics', (context, next) => {
      // Whoever may see the page sees them too: below.
      const authorization = context.req.header('authorization') ?? null;
      return showsToken(authorization, metrics.token) ? tellMetrics(context, metrics) : next();
    });
  app.get('/open', (context) => enter(context, source.access));
  app.use(async (context, next) => {
    const cookie = getCookie(context, cookieName(context.req)) ?? null;
    if (source.access.isAllowed(context.req.header('authorization') ?? null, cookie)) return next();
    const how = 'Run `dropcast open` on this machine and open the link that it prints.\n';
    return context.text(how, 401, { 'www-authenticate': 'Bearer realm="dropcast"' });
  });
  app.get('/', async (context) => context.html(renderPage(await source.status())));
  if (metrics !== undefined) app.get('/metrics', (context) => tellMetrics(context, metrics));
  app.get('/status.json', async (context) => context.json(await source.status()));
  return app;
}

async function tellMetrics(context: Context, { contentType, text }: Metrics): Promise<Response> {
  return context.body(await text(), 200, { 'content-type': contentType });
}

async function takeWebhook(context: Context, { receive }: PageSource): Promise<Response> {
  const body = await limitedBody(context.req.raw);
  if (body === null) return context.text('The body is larger than 64 KiB.\n', 413, { connection: 'close' });
  const admission = receive({ headers: context.req.raw.headers, body });
  if (admission === 'not wanted') return context.text('Webhooks are off: service.webhook_secret is not set.\n', 404);
  // A repeated one is a delivery whose first answer got lost, too: the service may stop repeating it.
  return admission === 'taken' || admission === 'repeated'
    ? context.body(null, 204)
    : context.text('The signature is missing, wrong or too old.\n', 401);
}

/**
 * Takes the code of a link, and leaves a cookie. Without a redirect: to the browser, a link from another site would make that a request of
 * the other site, which SameSite=Strict cookies are not sent with.
 */
function enter(context: Context, access: PageAccess): Response | Promise<Response> {
  const code = context.req.query('code') ?? '';
  // Mail programs and chats look at links with HEAD.
  const session = context.req.method === 'GET' ? access.redeem(code) : null;
  if (session === null)
    return context.text('This link was used, or is older than 5 minutes. Run `dropcast open` for another one.\n', 401);
  context.header('set-cookie', `${cookieName(context.req)}=${session}; Path=/; HttpOnly; SameSite=Strict`);
  return context.html(renderEntrance());
}

/** Cookies do not tell ports apart, and two daemons may share a machine. */
function cookieName(request: HonoRequest): string {
  const [, port = '80'] = /:(\d+)$/.exec(request.header('host') ?? '') ?? [];
  return `dropcast-${port}`;
}

const protections = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

/** Whether a page of another site makes the request: the browser says so. Following a link to this page is allowed. */
function isForeign(request: HonoRequest, listenHost: string): boolean {
  const origin = request.header('origin');
  if (origin !== undefined && !(URL.canParse(origin) && isOwnName(new URL(origin).host, listenHost))) return true;
  return request.header('sec-fetch-site') === 'cross-site' && request.header('sec-fetch-mode') !== 'navigate';
}

/** An IP address is always our own; a name only when it is localhost or the configured host. */
function isOwnName(header: string, listenHost: string): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  return (
    name === 'localhost' || name === listenHost.toLowerCase() || /^\[[\da-f:.]+\]$|^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)
  );
}

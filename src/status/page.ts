import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { HonoRequest } from 'hono';
import type { Admission, Webhook } from '../host/admit-webhook.ts';
import type { StatusView } from '../daemon/view.ts';
import { limitedBody } from './limited-body.ts';
import { renderPage } from './render-page.ts';

export interface StatusPage extends AsyncDisposable {
  readonly port: number;
}

/** Where the page gets its content, and passes webhooks to. */
export interface PageSource {
  status(): Promise<StatusView>;
  receive(webhook: Webhook): Admission;
}

const mostWebhookBytes = 1024 * 1024;

/** Limits for visitors. The page is small, so nobody needs more. */
export interface PageLimits {
  /** Most connections at once, of all visitors. */
  readonly connections: number;
  /** For a whole request, head and body; also how often it is checked. */
  readonly requestMs: number;
  readonly headerBytes: number;
}

const usualLimits: PageLimits = { connections: 100, requestMs: 10_000, headerBytes: 16 * 1024 };

/**
 * Serves the status for people (`/`), programs (`/status.json`) and health checks (`/healthz`), and accepts webhooks (`POST /webhooks`).
 * Read-only, and without secrets. It refuses requests under another host name and requests from other web pages: such a page could
 * read the status through the browser of somebody on this machine (DNS rebinding).
 *
 * @param listen port 0 is any free port
 * @returns the port it listens on; disposal closes all connections
 * @throws the error of `listen`, such as EADDRINUSE
 */
export async function serveStatusPage(
  listen: { readonly host: string; readonly port: number },
  source: PageSource,
  limits: PageLimits = usualLimits,
): Promise<StatusPage> {
  const server = createAdaptorServer({
    fetch: createPage(listen.host, source).fetch,
    serverOptions: {
      headersTimeout: limits.requestMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.requestMs,
      maxHeaderSize: limits.headerBytes,
    },
  });
  server.maxConnections = limits.connections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(listen.port, listen.host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

function createPage(listenHost: string, { status, receive }: PageSource): Hono {
  const app = new Hono();
  // Ahead of the host check: webhooks arrive through a proxy from another machine, and their signature proves the sender.
  app.post('/webhooks', async ({ req, text, body: answer }) => {
    const body = await limitedBody(req.raw, mostWebhookBytes);
    if (body === null) return text('The body is larger than 1 MiB.\n', 413);
    const admission = receive({ headers: req.raw.headers, body });
    if (admission === 'not wanted') return text('Webhooks are off: service.webhook_secret is not set.\n', 404);
    // A repeated one is a delivery whose first answer got lost, too: the service may stop repeating it.
    return admission === 'taken' || admission === 'repeated'
      ? answer(null, 204)
      : text('The signature is missing, wrong or too old.\n', 401);
  });
  app.use(async (context, next) => {
    for (const [name, value] of Object.entries(protections)) context.header(name, value);
    if (!isOwnName(context.req.header('host') ?? '', listenHost))
      return context.text('Use the address of this page itself.\n', 421);
    if (isForeign(context.req, listenHost)) return context.text('Other web pages may not read this one.\n', 403);
    if (!['GET', 'HEAD'].includes(context.req.method))
      return context.text('This page is read-only.\n', 405, { allow: 'GET, HEAD' });
    return next();
  });
  app.get('/', async (context) => context.html(renderPage(await status())));
  app.get('/status.json', async (context) => context.json(await status()));
  app.get('/healthz', async (context) => {
    const { waiting } = await status();
    return waiting === null ? context.text('ok\n') : context.text(`waiting: ${waiting.why}\n`, 503);
  });
  return app;
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

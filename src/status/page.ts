import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { HonoRequest } from 'hono';
import { html } from 'hono/html';
import type { Admission, Webhook } from '../host/admit-webhook.ts';
import type { FileView, StatusView } from '../daemon/view.ts';
import { limitedBody } from './limited-body.ts';

export interface StatusPage extends AsyncDisposable {
  readonly port: number;
}

/** What is served, from where it is known. */
export interface PageSource {
  status(): Promise<StatusView>;
  receive(webhook: Webhook): Admission;
}

const mostWebhookBytes = 1024 * 1024;

/** Seconds between two looks of an open page. */
const refreshSeconds = 2;

/** What one visitor may take: the page is small, and nobody who reads it needs long or says much. */
export interface PageLimits {
  readonly connections: number;
  /** For the whole request, its head and its body; looked at as often. */
  readonly requestMs: number;
  readonly headerBytes: number;
}

const usualLimits: PageLimits = { connections: 100, requestMs: 10_000, headerBytes: 16 * 1024 };

/**
 * Serves what is happening, for people (`/`), programs (`/status.json`) and health checks (`/healthz`), and takes webhooks
 * (`POST /webhooks`). It can only be read, and holds no secret. Requests to read it under a foreign host name, and those that a
 * web page elsewhere has a browser make, are refused: it could read the page through the browser of somebody on this machine
 * (DNS rebinding).
 *
 * @throws the error of `listen`, as EADDRINUSE
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

export function createPage(listenHost: string, { status, receive }: PageSource): Hono {
  const app = new Hono();
  // Before the names are looked at: it comes through a proxy, from another machine, and its signature speaks for it.
  app.post('/webhooks', async ({ req, text, body: answer }) => {
    const body = await limitedBody(req.raw, mostWebhookBytes);
    if (body === null) return text('A webhook has at most 1 MiB.\n', 413);
    const admission = receive({ headers: req.raw.headers, body });
    if (admission === 'not wanted') return text('There is no service.webhook_secret.\n', 404);
    return admission === 'taken' ? answer(null, 204) : text('The signature is missing, wrong or too old.\n', 401);
  });
  app.use(async (context, next) => {
    for (const [name, value] of Object.entries(protections)) context.header(name, value);
    if (!isOwnName(context.req.header('host') ?? '', listenHost))
      return context.text('This page answers to its own address only.\n', 421);
    if (isForeign(context.req, listenHost)) return context.text('This page is not for other pages.\n', 403);
    if (!['GET', 'HEAD'].includes(context.req.method))
      return context.text('This page can only be read.\n', 405, { allow: 'GET, HEAD' });
    return next();
  });
  app.get('/', async (context) => context.html(render(await status())));
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

/** A page of another site asks through its visitor's browser, which says so. To follow a link to here is no such thing. */
function isForeign(request: HonoRequest, listenHost: string): boolean {
  const origin = request.header('origin');
  if (origin !== undefined && !(URL.canParse(origin) && isOwnName(new URL(origin).host, listenHost))) return true;
  return request.header('sec-fetch-site') === 'cross-site' && request.header('sec-fetch-mode') !== 'navigate';
}

/** Addresses are always our own; a name only if it is this machine's loopback or the one that was configured. */
function isOwnName(header: string, listenHost: string): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  return (
    name === 'localhost' || name === listenHost.toLowerCase() || /^\[[\da-f:.]+\]$|^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)
  );
}

function render(view: StatusView): ReturnType<typeof html> {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="refresh" content="${refreshSeconds}" />
        <title>dropcast</title>
        <style>
          ${style}
        </style>
      </head>
      <body>
        <h1>dropcast</h1>
        <p>${counts(view)}</p>
        ${view.waiting === null ? '' : html`<p class="warn">Everything waits: ${view.waiting.why}</p>`}
        ${view.requests === null ? '' : html`<p>${view.requests.used} of ${view.requests.limit} API requests used in the last hour</p>`}
        <ul>
          ${view.folders.map(({ path, state, why }) => html`<li>${path}: ${state}${why === null ? '' : `, ${why}`}</li>`)}
        </ul>
        ${table('Under way', view.working)} ${table('Needs you', view.needs_you)}
      </body>
    </html>`;
}

function counts({ counts, settling }: StatusView): string {
  const parts = [
    ...(settling > 0 ? [`${settling} settling`] : []),
    ...Object.entries(counts).map(([state, n]) => `${n} ${state}`),
  ];
  return parts.length === 0 ? 'No file seen yet.' : parts.join(' · ');
}

function table(title: string, files: readonly FileView[]): ReturnType<typeof html> | '' {
  if (files.length === 0) return '';
  return html`<h2>${title}</h2>
    <table>
      <tr>
        <th>File</th>
        <th>State</th>
        <th>Channel</th>
        <th>Why</th>
      </tr>
      ${files.map(
        ({ path, state, sent, size, channel, why }) =>
          html`<tr>
            <td>${path}</td>
            <td>${state}${state === 'uploading' && size > 0 ? ` ${Math.floor((100 * (sent ?? 0)) / size)} %` : ''}</td>
            <td>${channel ?? ''}</td>
            <td>${why ?? ''}</td>
          </tr>`,
      )}
    </table>`;
}

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #ccc; overflow-wrap: anywhere; }
.warn { background: #fff3cd; padding: .5rem 1rem; }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #16181c; } th, td { border-color: #444; } .warn { background: #5c4a00; } }
`;

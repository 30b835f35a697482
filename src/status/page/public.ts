import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, HonoRequest } from 'hono';
import { MOST_BODY_BYTES, limitedBody } from '../../http/limited-body.ts';
import type { Health } from '../../daemon/health.ts';
import type { Admission, Webhook } from '../../host/admit-webhook.ts';

const plain = { 'content-type': 'text/plain; charset=UTF-8', 'cache-control': 'no-store' };

/** Sources of the public responses. */
export interface EarlySource {
  health(): Health;
  receive(webhook: Webhook): Admission;
}

/**
 * Sends public responses that need neither the site nor a request body: results of health checks, and rejections of
 * webhooks whose signature is missing or too old, or whose declared body exceeds 64 KiB.
 *
 * @param names this page's host names, without port
 * @returns whether it responded; false: the site responds
 */
export function answerEarly(
  source: EarlySource,
  names: () => readonly string[],
): (request: IncomingMessage, response: ServerResponse) => boolean {
  return ({ method, url, headers }, response) => {
    if (method === 'POST' && url === '/webhooks') {
      const isLong = Number(headers['content-length'] ?? 0) > MOST_BODY_BYTES;
      const refusal = isLong ? TOO_LONG : refusalOf(source.receive({ headers, body: null }));
      if (refusal === null) return false;
      // Closes the connection: the body was not read, so no other request can follow.
      response.writeHead(refusal[0], { ...plain, connection: 'close' }).end(refusal[1]);
      return true;
    }
    // Requests from a browser or under another host name must pass the site's checks.
    const isPlain = headers['origin'] === undefined && headers['sec-fetch-site'] === undefined;
    if (method !== 'GET' || url !== '/healthz' || !isPlain || !isOwnHost(headers.host ?? '', names())) return false;
    const health = source.health();
    response.writeHead(healthStatus(health), plain).end(`${health}\n`);
    return true;
  };
}

/** @returns the HTTP status of a health check */
export function healthStatus(health: Health): 200 | 503 {
  return health === 'ok' || health === 'paused' ? 200 : 503;
}

/**
 * Whether a request's Host header names this page: by an IP address, `localhost`, or one of these names. With DNS
 * rebinding, a foreign site makes its own name resolve to this machine.
 *
 * @param names without port
 */
export function isOwnHost(header: string, names: readonly string[]): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  return (
    name === 'localhost' ||
    names.some((own) => own.toLowerCase() === name) ||
    /^\[[\da-f:.]+\]$|^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)
  );
}

/**
 * Whether another site's page makes the request, as reported by the browser. Following a link to this page is allowed.
 */
export function isFromElsewhere(request: HonoRequest, names: readonly string[]): boolean {
  const origin = request.header('origin');
  if (origin !== undefined && !(URL.canParse(origin) && isOwnHost(new URL(origin).host, names))) return true;
  return request.header('sec-fetch-site') === 'cross-site' && request.header('sec-fetch-mode') !== 'navigate';
}

/**
 * Whether this page sent the form. Another port of the machine may belong to another user, and browsers send it the
 * same cookies. Every header present of `Origin` and `Sec-Fetch-Site` must match, and at least one must be present.
 */
export function isFromThisPage(request: HonoRequest): boolean {
  const origin = request.header('origin');
  const site = request.header('sec-fetch-site');
  if (origin === undefined && site === undefined) return false;
  const isOwnOrigin =
    origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.header('host')?.toLowerCase());
  return isOwnOrigin && (site === undefined || site === 'same-origin');
}

type Refusal = readonly [status: 401 | 404 | 413, text: string];

export const TOO_LONG: Refusal = [413, 'The body is larger than 64 KiB.\n'];

/** POST /webhooks: open to everyone, because the signature authenticates the sender. */
export async function takeWebhook(context: Context, receive: (webhook: Webhook) => Admission): Promise<Response> {
  const body = await limitedBody(context.req.raw);
  if (body === null) {
    const [status, text] = TOO_LONG;
    return context.text(text, status, { connection: 'close' });
  }
  const refusal = refusalOf(receive({ headers: context.req.raw.headers, body }));
  return refusal === null ? context.body(null, 204) : context.text(refusal[1], refusal[0]);
}

/**
 * @returns null when the webhook counts, or may count once its body is read. A repeated webhook counts too: its first
 *   response was lost, and the service may otherwise stop retrying.
 */
export function refusalOf(admission: Admission): Refusal | null {
  if (admission === 'taken' || admission === 'repeated' || admission === 'unread') return null;
  return admission === 'not wanted'
    ? [404, 'Webhooks are off: service.webhook_secret is not set.\n']
    : [401, 'The signature is missing, wrong or too old.\n'];
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isUploadPath } from './operations.ts';

/**
 * Lets pages of other origins do what they may (https://fetch.spec.whatwg.org/#http-cors-protocol): all may send a file
 * to an upload address, as with every service that browsers upload to, because the address is the permission. The API
 * is for those of `corsOrigins` alone: a key does not belong in a page that others load. Here and not in a route, so
 * that a page can read refusals and faults too. Nothing here allows cookies. Feeds and media have headers of their own.
 *
 * @param corsOrigins like `http://localhost:5173`; `*` allows every origin
 * @returns whether the request was a preflight and is answered. It needs no key: browsers send none with it
 */
export function answerCors(
  request: IncomingMessage,
  response: ServerResponse,
  corsOrigins: readonly string[],
): boolean {
  const { method, url = '', headers } = request;
  const allowed = allowedFor(url.split('?', 1)[0] ?? '', headers.origin, corsOrigins);
  if (!allowed) return false;
  response.setHeader('Access-Control-Allow-Origin', allowed.origin);
  if (allowed.origin !== '*') response.setHeader('Vary', 'Origin');
  response.setHeader('Access-Control-Expose-Headers', 'Allow, Retry-After');
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  response.writeHead(204, {
    'Access-Control-Allow-Methods': allowed.methods,
    'Access-Control-Allow-Headers': allowed.headers,
    'Access-Control-Max-Age': '600',
  });
  response.end();
  return true;
}

interface Allowed {
  readonly origin: string;
  readonly methods: string;
  readonly headers: string;
}

function allowedFor(path: string, asking: string | undefined, corsOrigins: readonly string[]): Allowed | undefined {
  if (isUploadPath(path)) return { origin: '*', methods: 'PUT', headers: '*' };
  if (!/^\/v1(\/|$)/.test(path)) return undefined;
  const origin = corsOrigins.find((one) => one === '*' || one === asking);
  if (origin === undefined) return undefined;
  // `*` leaves out Authorization. It takes what libraries add for tracing.
  return { origin, methods: 'GET, POST, PATCH, DELETE', headers: '*, Authorization' };
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { isUploadPath } from './operations.ts';

/**
 * Answers cross-origin requests (https://fetch.spec.whatwg.org/#http-cors-protocol). Any page may send a file to an
 * upload address, as with every service that browsers upload to, because knowing the address grants permission. Only
 * pages of `corsOrigins` may use the API: a key does not belong in a page that others load. Handled outside the routes,
 * so that a page can also read refusals and faults. Cookies are never allowed. Feeds and media set their own headers.
 *
 * @param corsOrigins like `http://localhost:5173`; `*` allows every origin
 * @returns whether the request was a preflight and has been answered. Browsers send preflights without a key
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
  // `*` allows the headers that tracing libraries add, but does not cover Authorization.
  return { origin, methods: 'GET, POST, PATCH, DELETE', headers: '*, Authorization' };
}

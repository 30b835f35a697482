import type { IncomingMessage, ServerResponse } from 'node:http';
import { MOST_BODY_BYTES } from '../../http/limited-body.ts';
import { isOwnHost } from './own-names.ts';
import type { Health } from '../../daemon/health.ts';
import type { Admission, Webhook } from '../../host/admit-webhook.ts';
import { refusalOf, TOO_LONG } from './own-names.ts';

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

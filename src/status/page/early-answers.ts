import type { IncomingMessage, ServerResponse } from 'node:http';
import { MOST_BODY_BYTES } from '../../http/limited-body.ts';
import { isOwnHost } from './own-names.ts';
import type { Health } from '../../daemon/health.ts';
import type { Admission, Webhook } from '../../host/admit-webhook.ts';
import { refusalOf, TOO_LONG } from './own-names.ts';

const plain = { 'content-type': 'text/plain; charset=UTF-8', 'cache-control': 'no-store' };

/** What anyone may ask. */
export interface EarlySource {
  health(): Health;
  receive(webhook: Webhook): Admission;
}

/**
 * Public answers, which need neither the site nor a body: a health check, and the refusal of a webhook
 * without a signature, with one that is too old, or with an announced body over 64 KiB.
 *
 * @param names of this page, without port
 * @returns whether it answered; false: the site answers
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
      // The body was not read, so no other request can follow it.
      response.writeHead(refusal[0], { ...plain, connection: 'close' }).end(refusal[1]);
      return true;
    }
    // Whatever a browser or another name asks goes through the checks of the site.
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

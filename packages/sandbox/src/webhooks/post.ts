import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isLoopbackHost } from '../loopback.ts';
import type { Delivery, Webhook } from '../store/webhooks.ts';
import { signatureOf } from './signature.ts';

export interface PostOptions {
  /** Where webhooks may lead: the rule of imports. */
  readonly reach: 'loopback' | 'anywhere';
  /** For a whole attempt, in real time. */
  readonly patienceMs: number;
  readonly signal: AbortSignal;
}

/** What an attempt came to; `status` is null where there was no answer, `error` where it was delivered. */
export interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
}

/** One attempt: any 2xx in time is a delivery (assumed), a redirect is not followed. @throws only when the signal fires */
export async function post(delivery: Delivery, webhook: Webhook, options: PostOptions): Promise<Outcome> {
  const url = new URL(webhook.url);
  if (!mayReach(url, options.reach)) return { status: null, error: 'The sandbox delivers to this machine only.' };
  try {
    const inTime = AbortSignal.any([options.signal, AbortSignal.timeout(options.patienceMs)]);
    const status = await statusOf(url, delivery.body, {
      headers: headersOf(delivery, webhook.secret),
      signal: inTime,
    });
    return { status, error: status >= 200 && status < 300 ? null : `The address answered with status ${status}.` };
  } catch (error) {
    options.signal.throwIfAborted();
    return { status: null, error: reasonOf(error, options.patienceMs) };
  }
}

/** Whether the sandbox may deliver there: it must not be a way to reach other hosts. */
export function mayReach(url: URL, reach: PostOptions['reach']): boolean {
  return reach === 'anywhere' || isLoopbackHost(url.hostname);
}

/** The timestamp is real time, unlike all else: a receiver compares it with its own clock, which nobody can put forward. */
function headersOf({ id, body }: Delivery, secret: string): Record<string, string | number> {
  const timestampS = Math.floor(Date.now() / 1000);
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': 'dropcast-sandbox-webhooks',
    'webhook-id': id,
    'webhook-timestamp': timestampS,
    'webhook-signature': signatureOf({ id, timestampS, body }, secret),
  };
}

/** Its body, if any, is nobody's concern and not waited for. */
function statusOf(
  url: URL,
  body: string,
  options: { readonly headers: Record<string, string | number>; readonly signal: AbortSignal },
): Promise<number> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, { ...options, method: 'POST', agent: false }, (response) => {
      resolve(response.statusCode ?? 0);
      response.on('error', () => undefined).destroy();
    });
    sent.on('error', reject).end(body);
  });
}

function reasonOf(error: unknown, patienceMs: number): string {
  if (!(error instanceof Error)) return 'It could not be delivered.';
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return `There was no answer within ${patienceMs / 1000} s.`;
  return `It could not be delivered: ${'code' in error ? String(error.code) : error.name}.`;
}

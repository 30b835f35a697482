import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Switches } from '../profiles/switch-table.ts';
import { isLoopbackHost } from '../loopback.ts';
import type { Delivery, Webhook } from '../store/webhooks.ts';
import { signatureHeaders } from './signature.ts';

export interface PostOptions {
  /** Hosts that webhooks may use; the same rule as for imports. */
  readonly reach: 'loopback' | 'anywhere';
  /** Limit for a whole attempt, in real time. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Form of the signature. */
  readonly form: Switches['webhook_form'];
}

/** Result of an attempt. `status` is null without an answer, `error` is null on success. */
export interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
}

/**
 * Makes one delivery attempt. Any 2xx in time counts as delivered (assumed); redirects are not followed. @throws only
 * if the signal fires
 */
export async function post(delivery: Delivery, webhook: Webhook, options: PostOptions): Promise<Outcome> {
  const url = new URL(webhook.url);
  if (!mayReach(url, options.reach))
    return {
      status: null,
      error: 'The sandbox delivers to this machine only. Start it with --import-from anywhere to allow other hosts.',
    };
  try {
    const inTime = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
    const status = await statusOf(url, delivery.body, {
      headers: headersOf(delivery, webhook.secret, options.form),
      signal: inTime,
    });
    return { status, error: status >= 200 && status < 300 ? null : `The address answered with status ${status}.` };
  } catch (error) {
    options.signal.throwIfAborted();
    return { status: null, error: reasonOf(error, options.timeoutMs) };
  }
}

/** Returns whether the sandbox may deliver to this address. The sandbox must not be a way to reach other hosts. */
export function mayReach(url: URL, reach: PostOptions['reach']): boolean {
  return reach === 'anywhere' || isLoopbackHost(url.hostname);
}

/**
 * Returns the request headers. Unlike all other times, the timestamp is real time, because a receiver compares it with
 * its own clock.
 */
function headersOf({ id, body }: Delivery, secret: string, form: PostOptions['form']): Record<string, string | number> {
  const timestampS = Math.floor(Date.now() / 1000);
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': 'dropcast-sandbox-webhooks',
    ...signatureHeaders({ id, timestampS, body }, secret, form),
  };
}

/** Sends the request and returns the answer's status, ignoring its body. */
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

function reasonOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'It could not be delivered.';
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return `No answer within ${timeoutMs / 1000} s.`;
  return `It could not be delivered: ${'code' in error ? String(error.code) : error.name}.`;
}

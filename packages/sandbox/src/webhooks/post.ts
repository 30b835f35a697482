import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Switches } from '../profiles/switch-table.ts';
import { isLoopbackHost } from '../loopback.ts';
import type { Delivery, Webhook } from '../store/webhooks.ts';
import { signatureHeaders } from './signature.ts';

export interface PostOptions {
  /** Which hosts webhooks may use, as for imports. */
  readonly reach: 'loopback' | 'anywhere';
  /** For a whole attempt, in real time. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** How it is signed. */
  readonly form: Switches['webhook_form'];
}

/** Result of an attempt; `status` is null without an answer, `error` is null on success. */
export interface Outcome {
  readonly status: number | null;
  readonly error: string | null;
}

/**
 * One attempt: any 2xx in time is a delivery (assumed), a redirect is not followed. @throws only when the signal fires
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

/** Whether the sandbox may deliver there: it must not be a way to reach other hosts. */
export function mayReach(url: URL, reach: PostOptions['reach']): boolean {
  return reach === 'anywhere' || isLoopbackHost(url.hostname);
}

/** The timestamp is real time, unlike all else: a receiver compares it with its own clock. */
function headersOf({ id, body }: Delivery, secret: string, form: PostOptions['form']): Record<string, string | number> {
  const timestampS = Math.floor(Date.now() / 1000);
  return {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': 'dropcast-sandbox-webhooks',
    ...signatureHeaders({ id, timestampS, body }, secret, form),
  };
}

/** Ignores the body of the answer. */
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

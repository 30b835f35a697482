import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { createHmac, randomBytes, type Hmac } from 'node:crypto';
import type { Switches } from '../profiles/switch-table.ts';
import { isLoopbackHost } from '../loopback.ts';
import type { Delivery, Webhook } from '../store/webhooks.ts';

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

function signatureHeaders(signed: Signed, secret: string, form: PostOptions['form']): Record<string, string | number> {
  if (form === 'unsigned') return {};
  if (form === 'github') return { 'X-Signature-256': `sha256=${hmac(secret).update(signed.body).digest('hex')}` };
  const { id, timestampS } = signed;
  return { 'webhook-id': id, 'webhook-timestamp': timestampS, 'webhook-signature': signatureOf(signed, secret) };
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

/** A new secret: `whsec_` and the base64 of 24 random bytes, the least that Standard Webhooks allows. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(24).toString('base64')}`;
}

interface Signed {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestampS: number;
  readonly body: string;
}

/** assumed (api-spec section 6 leaves the scheme open): as Standard Webhooks sign, with the symmetric scheme v1. */
export function signatureOf({ id, timestampS, body }: Signed, secret: string): string {
  return `v1,${hmac(secret).update(`${id}.${timestampS}.${body}`).digest('base64')}`;
}

function hmac(secret: string): Hmac {
  return createHmac('sha256', Buffer.from(secret.slice(PREFIX.length), 'base64'));
}

const PREFIX = 'whsec_';

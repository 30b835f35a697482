import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Switches } from '../profiles/switch-table.ts';
import { isLoopbackHost } from '../loopback.ts';
import type { Delivery, Webhook } from '../store/webhooks.ts';
import { createHmac, randomBytes } from 'node:crypto';

interface PostOptions {
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

interface Signed {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestampS: number;
  readonly body: string;
}

type Headers = Readonly<Record<string, string | number>>;

/**
 * Returns the headers that sign a webhook. assumed (api-spec section 6 leaves the scheme open): Standard Webhooks with
 * the symmetric scheme v1. The other forms follow the documentation of each service; their key is the text of the
 * secret.
 */
export function signatureHeaders(signed: Signed, secret: string, form: Switches['webhook_form']): Headers {
  return forms[form](signed, secret);
}

const forms: Readonly<Record<Switches['webhook_form'], (signed: Signed, secret: string) => Headers>> = {
  standard: (signed, secret) => ({
    'webhook-id': signed.id,
    'webhook-timestamp': signed.timestampS,
    'webhook-signature': signatureOf(signed, secret),
  }),
  github: ({ body }, secret) => ({ 'X-Hub-Signature-256': `sha256=${hexOf(body, secret)}` }),
  bunny: ({ body }, secret) => ({ 'X-BunnyStream-Signature': hexOf(body, secret) }),
  mux: ({ timestampS: t, body }, secret) => ({ 'Mux-Signature': `t=${t},v1=${hexOf(`${t}.${body}`, secret)}` }),
  cloudflare: ({ timestampS: t, body }, secret) => ({
    'Webhook-Signature': `time=${t},sig1=${hexOf(`${t}.${body}`, secret)}`,
  }),
  unsigned: () => ({}),
};

/** Returns the signature as defined by Standard Webhooks. */
export function signatureOf({ id, timestampS, body }: Signed, secret: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(`${id}.${timestampS}.${body}`).digest('base64')}`;
}

function hexOf(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

/** Creates a secret: `whsec_` and the base64 of 24 random bytes, the minimum that Standard Webhooks allows. */
export function newSecret(): string {
  return `${PREFIX}${randomBytes(24).toString('base64')}`;
}

const PREFIX = 'whsec_';

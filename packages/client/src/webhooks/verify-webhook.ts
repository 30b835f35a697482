import { createHmac, timingSafeEqual } from 'node:crypto';

import { WebhookSignatureError } from '../errors.ts';
import { parseJson } from '../transport/answer-body.ts';
import { readEvent } from './webhook-event.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** A webhook as it was received. */
export interface ReceivedWebhook {
  /** The request body, byte for byte: JSON that was parsed and written again has another signature. */
  readonly body: string | Uint8Array;
  /** The request headers, names in any case: those of Node, of Fetch, or a plain object. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `whsec_` followed by base64, as the service shows it. */
  readonly secret: string;
  /** How far its timestamp may be from `nowMs`, in either direction, in milliseconds. Default 300,000. */
  readonly toleranceMs?: number | undefined;
  /** The time of this machine, epoch milliseconds. Default: now. */
  readonly nowMs?: number | undefined;
}

const defaultToleranceMs = 300_000;

/**
 * Verifies that a webhook comes from the service, and reads it. The same message may arrive twice, with the same `id`.
 *
 * assumed: api-spec section 6 leaves the scheme open; this is that of Standard Webhooks (standardwebhooks.com):
 * `webhook-signature` is `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`; there are several while a secret
 * is being replaced.
 *
 * @throws {WebhookSignatureError} do not trust it; `code` is `missing_header`, `bad_timestamp`, `too_old`, `too_new`,
 *   `wrong_signature` or `unreadable_event`
 * @throws {TypeError} `secret` does not have that form, or a time is not a number
 */
export function verifyWebhook(webhook: ReceivedWebhook): WebhookEvent {
  const { body, headers, toleranceMs = defaultToleranceMs, nowMs = Date.now() } = webhook;
  // Every comparison with NaN is false, and so is one with a text like `5m`: nothing would ever be too old.
  if (!isTime(toleranceMs) || !isTime(nowMs)) throw new TypeError('toleranceMs and nowMs must be numbers');
  const key = keyOf(webhook.secret);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  requireRecent(timestamp, { toleranceMs, nowMs });
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  if (!signatures.split(' ').some((signature) => isSignature(signature, expected))) {
    throw refusal('wrong_signature', 'none of its signatures was made with this secret');
  }
  const event = readEvent(id, parseJson(textOf(body)));
  if (event === undefined) throw refusal('unreadable_event', 'its signature is valid, but it is not an event');
  return event;
}

function isTime(ms: unknown): boolean {
  return typeof ms === 'number' && !Number.isNaN(ms);
}

/** @throws {TypeError} without the secret in it */
function keyOf(secret: string): Buffer {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const key = Buffer.from(base64 ?? '', 'base64');
  if (key.length > 0) return key;
  throw new TypeError('the secret of a webhook must be whsec_ followed by base64');
}

/** A header that comes twice, as a list or in two spellings, counts as wrong. */
function headerOf(headers: ReceivedWebhook['headers'], name: string): string {
  const found =
    headers instanceof Headers
      ? [headers.get(name)]
      : Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? value : []));
  const [value] = found;
  if (found.length === 1 && typeof value === 'string' && value !== '') return value;
  throw refusal('missing_header', `it has ${found.length > 1 ? 'more than one' : 'no'} ${name}`);
}

function requireRecent(timestamp: string, { toleranceMs, nowMs }: { toleranceMs: number; nowMs: number }): void {
  // Digits only: a dot would let an attacker move the border between the timestamp and the body.
  if (!/^\d{1,12}$/.test(timestamp)) throw refusal('bad_timestamp', 'its webhook-timestamp is not a number of seconds');
  const ageMs = nowMs - Number(timestamp) * 1000;
  if (ageMs > toleranceMs) throw refusal('too_old', `it was sent ${seconds(ageMs)} ago`);
  if (-ageMs > toleranceMs) throw refusal('too_new', `its timestamp is ${seconds(-ageMs)} in the future`);
}

/** Other versions than `v1` are ignored. */
function isSignature(text: string, expected: Buffer): boolean {
  if (!text.startsWith('v1,')) return false;
  const given = Buffer.from(text.slice('v1,'.length), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

function refusal(code: string, why: string): WebhookSignatureError {
  return new WebhookSignatureError(`webhook refused: ${why}`, { code });
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

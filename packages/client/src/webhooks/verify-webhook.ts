import { createHmac, timingSafeEqual } from 'node:crypto';

import { WebhookSignatureError } from '../errors.ts';
import { parseJson } from '../transport/answer-body.ts';
import { readEvent } from './webhook-event.ts';
import type { WebhookEvent } from './webhook-event.ts';

export interface ReceivedWebhook {
  /** As it came, byte for byte: JSON that was parsed and written again has another signature. */
  readonly body: string | Uint8Array;
  /** Of the request, in any case: those of Node, of Fetch, or a plain object. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `whsec_` and base64, as the service shows it. */
  readonly secret: string;
  /** How far its time may be from ours, in either direction, in milliseconds. Default 5 minutes. */
  readonly toleranceMs?: number;
  /** Epoch milliseconds; default now. */
  readonly nowMs?: number;
}

const defaultToleranceMs = 300_000;

/**
 * Makes sure that a webhook is from the service, and reads it. assumed: api-spec section 6 leaves the scheme open; this is the
 * one of Standard Webhooks: `webhook-signature` holds `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`, several of
 * them while a secret is replaced. The same message may come twice, with the same `id`.
 *
 * @throws {WebhookSignatureError} do not believe it; `code` is `missing_header`, `bad_timestamp`, `too_old`, `too_new`,
 *   `wrong_signature` or `unreadable_event`
 * @throws {TypeError} the secret is none
 */
export function verifyWebhook(webhook: ReceivedWebhook): WebhookEvent {
  const { body, headers, toleranceMs = defaultToleranceMs, nowMs = Date.now() } = webhook;
  const key = keyOf(webhook.secret);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  requireRecent(timestamp, { toleranceMs, nowMs });
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
  if (!signatures.split(' ').some((signature) => isSignature(signature, expected))) {
    throw refusal('wrong_signature', 'none of its signatures is made with this secret');
  }
  const event = readEvent(id, parseJson(textOf(body)));
  if (event === undefined) throw refusal('unreadable_event', 'it is signed, but holds no event that can be read');
  return event;
}

/** @throws TypeError that does not show it */
function keyOf(secret: string): Buffer {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1];
  const key = Buffer.from(base64 ?? '', 'base64');
  if (key.length > 0) return key;
  throw new TypeError('the secret of a webhook is whsec_ and base64');
}

/** A header that comes twice, as a list or in two spellings, is believed in neither. */
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
  // Digits alone: with a point in it the border between the time and the body could be moved.
  if (!/^\d{1,12}$/.test(timestamp)) throw refusal('bad_timestamp', 'its webhook-timestamp is no number of seconds');
  const ageMs = nowMs - Number(timestamp) * 1000;
  if (ageMs > toleranceMs) throw refusal('too_old', `it was sent ${seconds(ageMs)} ago`);
  if (-ageMs > toleranceMs) throw refusal('too_new', `it says that it will be sent in ${seconds(-ageMs)}`);
}

/** Other versions than `v1` are not ours to judge. */
function isSignature(text: string, expected: Buffer): boolean {
  if (!text.startsWith('v1,')) return false;
  const given = Buffer.from(text.slice('v1,'.length), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function textOf(body: string | Uint8Array): string {
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}

function refusal(code: string, why: string): WebhookSignatureError {
  return new WebhookSignatureError(`the webhook is refused: ${why}`, { code });
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

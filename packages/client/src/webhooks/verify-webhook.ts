import { createHmac, timingSafeEqual } from 'node:crypto';

import { WebhookSignatureError } from '../errors.ts';
import { parseJson } from '../transport/answer-body.ts';
import { signingSchemes } from './signing-schemes.ts';
import type { WebhookScheme } from './signing-schemes.ts';
import { readEvent } from './webhook-event.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** A webhook as it was received. */
export interface ReceivedWebhook {
  /** The request body, byte for byte: parsing and re-serialising JSON would change its signature. */
  readonly body: string | Uint8Array;
  /** The request headers, names in any letter case: from Node, from Fetch, or a plain object. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /**
   * The secret as the service shows it: `whsec_` followed by base64 for `standard`, any other text for the other
   * schemes.
   */
  readonly secret: string;
  /** The service's signing scheme. Default `standard`. */
  readonly scheme?: WebhookScheme | undefined;
  /**
   * Name of the signature header; `standard` has a fixed one. Default `x-signature` for `hmac-hex`, and `mux-signature`
   * or `webhook-signature` for `timestamped`.
   */
  readonly header?: string | undefined;
  /**
   * Maximum difference between the webhook's timestamp and `nowMs`, in either direction, in milliseconds. Default
   * 300,000. `hmac-hex` messages have no timestamp and never expire.
   */
  readonly toleranceMs?: number | undefined;
  /** Current time, epoch milliseconds. Default: this machine's clock. */
  readonly nowMs?: number | undefined;
}

const defaultToleranceMs = 300_000;
/** Maximum number of signatures, more than any service sends while a secret is being replaced. */
const mostSignatures = 20;
const longestHeader = 4_096;

/**
 * Verifies that a webhook comes from the service, and reads it. The same message may arrive twice, with the same `id`.
 *
 * assumed: api-spec section 6 leaves the scheme open. The default is Standard Webhooks (standardwebhooks.com):
 * `webhook-signature` is `v1,` followed by the base64 of HMAC-SHA256 over `id.timestamp.body`, with several such
 * entries while a secret is being replaced.
 *
 * @throws {WebhookSignatureError} do not trust the webhook; `code` is `missing_header`, `bad_header`, `bad_timestamp`,
 *   `too_old`, `too_new`, `wrong_signature` or `unreadable_event`
 * @throws {TypeError} `secret` does not fit the scheme, or a time is not a number
 */
export function verifyWebhook(webhook: ReceivedWebhook): WebhookEvent {
  const id = verifyWebhookSignature(webhook);
  const event = readEvent(id, parseJson(textOf(webhook.body)));
  if (event === undefined) throw refusal('unreadable_event', 'its signature is valid, but it is not an event');
  return event;
}

/**
 * Verifies that a webhook comes from the service, without reading its content.
 *
 * @returns the message id: `webhook-id`, or the signature in hex if the scheme has no id. For `timestamped` it differs
 *   when a message is redelivered at another time
 * @throws {WebhookSignatureError} do not trust the webhook; `code` is as for `verifyWebhook`, except `unreadable_event`
 * @throws {TypeError} as for `verifyWebhook`
 */
export function verifyWebhookSignature(webhook: ReceivedWebhook): string {
  const { body, headers, scheme = 'standard', toleranceMs = defaultToleranceMs, nowMs = Date.now() } = webhook;
  // Comparisons with NaN, or with a string like `5m`, are always false, so nothing would ever be too old.
  if (!isTime(toleranceMs) || !isTime(nowMs)) throw new TypeError('toleranceMs and nowMs must be numbers');
  const { namesOf, keyOf, read } = signingSchemes[scheme];
  const key = keyOf(webhook.secret);
  const names = namesOf(webhook.header?.toLowerCase());
  const { id, timestamp, prefix, signatures } = read(names.map((each) => headerOf(headers, each)));
  if (timestamp !== null) requireRecent(timestamp, { toleranceMs, nowMs });
  if (signatures.length > mostSignatures) throw refusal('bad_header', `it has more than ${mostSignatures} signatures`);
  const expected = createHmac('sha256', key).update(prefix).update(body).digest();
  if (!signatures.some((given) => given.length === expected.length && timingSafeEqual(given, expected)))
    throw refusal('wrong_signature', 'none of its signatures was made with this secret');
  return id ?? expected.toString('hex');
}

function isTime(ms: unknown): boolean {
  return typeof ms === 'number' && !Number.isNaN(ms);
}

/**
 * Returns a header that must appear exactly once. Lists, different spellings and alternative names count as duplicates.
 */
function headerOf(headers: ReceivedWebhook['headers'], names: readonly string[]): string {
  const found =
    headers instanceof Headers
      ? names.flatMap((name) => headers.get(name) ?? [])
      : Object.entries(headers).flatMap(([key, value]) => (names.includes(key.toLowerCase()) ? value : []));
  const [value] = found;
  const name = names.join(' or ');
  if (found.length !== 1 || typeof value !== 'string' || value === '')
    throw refusal('missing_header', `it has ${found.length > 1 ? 'more than one' : 'no'} ${name}`);
  if (value.length > longestHeader)
    throw refusal('bad_header', `its ${name} has more than ${longestHeader} characters`);
  return value;
}

function requireRecent(timestamp: string, { toleranceMs, nowMs }: { toleranceMs: number; nowMs: number }): void {
  // Digits only: a dot would let an attacker move the boundary between the timestamp and the body.
  if (!/^\d{1,12}$/.test(timestamp)) throw refusal('bad_timestamp', 'its timestamp is not one number of seconds');
  const ageMs = nowMs - Number(timestamp) * 1000;
  if (ageMs > toleranceMs) throw refusal('too_old', `it was sent ${seconds(ageMs)} ago`);
  if (-ageMs > toleranceMs) throw refusal('too_new', `its timestamp is ${seconds(-ageMs)} in the future`);
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

import {
  createVideoClient,
  ForbiddenError,
  NotFoundError,
  RateLimitedError,
  ServiceError,
  UnauthorizedError,
} from '@dropcast/client';
import { parseBaseUrl } from '../../config/addresses.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { formatDuration } from '../output/format.ts';
import type { Choice } from './questions.ts';

/** A dummy key for requests whose answer does not depend on the key. */
export const unknownKey = 'a-key-that-nobody-has';

/** A checked answer: its value, or why it is invalid. */
export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string };

/** @param name null if the service has no name for it */
type NamedChoice = Choice & { readonly name: string | null };

/** The channels and feeds that a key may use. */
export interface Account {
  readonly channels: readonly NamedChoice[];
  readonly feeds: readonly Choice[];
}

/** Timeout for a request while the user is waiting. */
const longestMs = 10_000;

/**
 * Checks whether an address answers like the API of a video service. Assumes https if there is no scheme. Sends one
 * request with an invalid key.
 */
export async function checkAddress(text: string, signal: AbortSignal, timeoutMs = longestMs): Promise<Checked<string>> {
  const typed = text.trim();
  const address = parseBaseUrl(/^[a-z]+:/i.test(typed) ? typed : `https://${typed}`);
  if (!address.ok) return { ok: false, why: `the address: ${address.message}` };
  try {
    await using client = createVideoClient({ baseUrl: address.value, apiKey: unknownKey, maxRetries: 0, timeoutMs });
    await client.channels.list({ signal });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isApi = [UnauthorizedError, ForbiddenError, RateLimitedError].some((each) => error instanceof each);
    if (error instanceof NotFoundError) return { ok: false, why: `${address.value} ${notTheApi}` };
    if (!isApi) return { ok: false, why: `${address.value} ${whatItIs(error)}: ${why(error)}` };
  }
  return { ok: true, value: address.value };
}

/** Describes a failed address check. A service that is temporarily down may still be the right one. */
function whatItIs(error: ServiceError): string {
  return isPassing(error) ? 'cannot be checked' : 'does not answer like the API of a video service';
}

/** Checks whether the service accepts a key, and returns what the key may use. Takes two requests. */
export async function checkKey(
  baseUrl: string,
  key: string,
  signal: AbortSignal,
  timeoutMs = longestMs,
): Promise<Checked<Account>> {
  if (key === '') return { ok: false, why: 'the key is empty' };
  // A header accepts no other characters (RFC 6750, 2.1). The message never repeats the key.
  if (!/^[\x21-\x7e]+$/.test(key)) return { ok: false, why: 'the key contains a space or a character that no key has' };
  try {
    await using client = createVideoClient({ baseUrl, apiKey: key, maxRetries: 0, timeoutMs });
    const [channels, feeds] = [await client.channels.list({ signal }), await client.feeds.list({ signal })];
    return { ok: true, value: { channels: channels.map(choiceOf), feeds: feeds.map(choiceOf) } };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error instanceof UnauthorizedError) return { ok: false, why: 'the service does not accept this key (401)' };
    return { ok: false, why: why(error) };
  }
}

/** Checks whether the service has a channel or feed with this id. */
export function checkListed(kind: 'channel' | 'feed', id: string, listed: readonly Choice[]): Checked<string> {
  if (listed.some(({ value }) => value === id)) return { ok: true, value: id };
  const ids = listed.map(({ value }) => escapeControls(value)).join(', ');
  const has = listed.length === 0 ? `it has none: create one there first` : `it has ${ids}`;
  return { ok: false, why: `the service has no ${kind} "${escapeControls(id)}"; ${has}` };
}

function choiceOf({ id, name }: { readonly id: string; readonly name?: string | undefined }): NamedChoice {
  const shown = name === undefined || name === id ? null : escapeControls(name);
  const value = escapeControls(id);
  return { value: id, label: shown === null ? value : `${shown} (${value})`, name: shown };
}

function why(error: ServiceError): string {
  const { status } = error;
  // Some services end their messages with a full stop.
  const message = escapeControls(error.message).replace(/\.$/, '');
  if (error instanceof NotFoundError) return `the service ${notTheApi}`;
  if (error instanceof RateLimitedError)
    return `the service is rate limiting requests (429); try again ${pause(error)}`;
  if (status !== undefined && status >= 500) return `the service has an internal problem (${status}); try again later`;
  if (isPassing(error)) return `${message}; check the address, or try again later`;
  return message;
}

const notTheApi = 'answers, but this is not its API (404). Is the version missing, like /v1?';

function pause({ retryAfterMs }: RateLimitedError): string {
  return retryAfterMs === undefined ? 'later' : `in ${formatDuration(retryAfterMs)}`;
}

/** Whether the failure may be gone within a minute. */
function isPassing({ status, code }: ServiceError): boolean {
  return (status !== undefined && status >= 500) || code === 'timeout';
}

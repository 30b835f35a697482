import type { FaultRule } from '../faults/fault-rule.ts';
import type { JournalEntry } from '../http/journal-entry.ts';
import { isShallow } from './nesting.ts';
import type { Masking } from './masking.ts';
import { headerPairs, type Recording, type RecordedBody } from './recording.ts';

/** A journal entry with everything known about its exchange, without secrets. */
export interface InspectedRequest extends JournalEntry {
  /** Undefined if the journal had no room left for the details. */
  readonly details: Details | undefined;
}

export interface Details {
  /** Headers by lower-case name; repeated headers are joined with a comma. */
  readonly requestHeaders: Headers;
  readonly requestBody: ShownBody;
  readonly answerHeaders: Headers;
  readonly answerBody: ShownBody;
  readonly receivedMs: number | null;
  readonly firstByteMs: number | null;
  readonly sentMs: number | null;
  /** The rule of the fault that affected the exchange. */
  readonly faultRule: FaultRule | undefined;
}

type Headers = Readonly<Record<string, string>>;

export interface ShownBody {
  readonly type: string | null;
  /** Size of the body as transferred, including bytes that are not kept. */
  readonly sizeBytes: number;
  /** Whether the body was transferred to its end. */
  readonly isComplete: boolean;
  /** Whether only part of the transferred body is kept. */
  readonly isCut: boolean;
  /** The body as text; null if it is not text. */
  readonly text: string | null;
  /** The first bytes of a body that is not text. */
  readonly firstBytes: Buffer;
}

/** Returns the recording without its secrets. Pure. @param about `about.keyName` is shown instead of the key */
export function detailsOf(recording: Recording, masking: Masking, about: About): Details {
  const requestHeaders = shownHeaders(pairsOf(recording.requestHeaders), masking);
  const answerHeaders = shownHeaders(headerPairs(recording.answerHead), masking);
  const { authorization } = requestHeaders;
  const { receivedMs, firstByteMs, sentMs } = recording;
  return {
    requestHeaders:
      authorization === undefined
        ? requestHeaders
        : { ...requestHeaders, authorization: withKey(authorization, about.keyName) },
    requestBody: shownBody(recording.requestBody, requestHeaders, masking),
    answerHeaders,
    answerBody: shownBody(recording.answerBody, answerHeaders, masking),
    receivedMs,
    firstByteMs,
    sentMs,
    faultRule: about.faultRule,
  };
}

interface About {
  /** `key_1`, for example; null without a valid key. */
  readonly keyName: string | null;
  readonly faultRule: FaultRule | undefined;
}

function withKey(masked: string, keyName: string | null): string {
  return masked.replace('[masked]', keyName === null ? '[not a valid key]' : `[${keyName}]`);
}

function pairsOf(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as [string, string]] : []));
}

function shownHeaders(pairs: readonly (readonly [string, string])[], masking: Masking): Headers {
  const shown = new Map<string, string>();
  for (const [given, value] of pairs) {
    const name = given.toLowerCase();
    const before = shown.get(name);
    const masked = masking.header(name, value);
    shown.set(name, before === undefined ? masked : `${before}, ${masked}`);
  }
  return Object.fromEntries(shown);
}

function shownBody(body: RecordedBody, headers: Headers, masking: Masking): ShownBody {
  const { sizeBytes, keptBytes, isComplete } = body;
  const { 'content-type': type } = headers;
  const isCut = keptBytes < sizeBytes;
  const bytes = body.bytes();
  const text = sizeBytes > 0 && body.isText ? textOf(bytes, isCut || !isComplete) : null;
  const isForm = type?.toLowerCase().startsWith('application/x-www-form-urlencoded') === true;
  const masked = text === null ? null : masking.text(isForm ? masking.query(text) : text, isCut || !isComplete);
  const firstBytes = masked === null ? firstOf(bytes, masking) : Buffer.alloc(0);
  return {
    type: type ?? null,
    sizeBytes,
    isComplete,
    isCut: isCut || (masked === null && firstBytes.length < sizeBytes),
    text: masked,
    firstBytes,
  };
}

/**
 * Returns the first bytes of a body that is not text. Text in an encoding other than UTF-8 counts as binary, and may
 * contain secrets too.
 */
function firstOf(bytes: Buffer, masking: Masking): Buffer {
  return Buffer.from(masking.text(bytes.toString('latin1'), true), 'latin1').subarray(0, 32);
}

/** Decodes UTF-8. @returns null if the bytes are not UTF-8. If a cut splits a character, the character is omitted */
function textOf(bytes: Buffer, isCut: boolean): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return null;
  }
}

/** Parses the body as JSON. @returns undefined if it is not JSON, incomplete, or nested too deeply to be shown */
export function jsonOf({ text, isCut }: Pick<ShownBody, 'text' | 'isCut'>): unknown {
  if (text === null || isCut) return undefined;
  try {
    const json = JSON.parse(text) as unknown;
    return isShallow(json, MAX_DEPTH) ? json : undefined;
  } catch {
    return undefined;
  }
}

const MAX_DEPTH = 100;

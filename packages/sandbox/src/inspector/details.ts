import type { FaultRule } from '../faults/fault-rule.ts';
import type { JournalEntry } from '../http/journal-entry.ts';
import { isShallow } from './nesting.ts';
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

/**
 * Hides secrets in the display of requests and answers: tokens of upload addresses, API keys, webhook secrets, and any
 * value whose field or parameter name marks it as secret. Masked JSON is still valid JSON.
 */
export class Masking {
  readonly #known: readonly string[];

  /**
   * @param known this sandbox's secrets in plain text. Secrets shorter than six characters are not hidden: any text may
   *   contain them.
   */
  constructor(known: readonly string[]) {
    this.#known = known.flatMap((secret) => [secret, encodeURIComponent(secret)]).filter(({ length }) => length >= 6);
  }

  /** Masks a text. @param isCut whether the text's end is missing, which may cut a secret short */
  text(text: string, isCut = false): string {
    const masked = this.#known.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
    const shaped = SHAPES.reduce((rest, [shape, instead]) => rest.replaceAll(shape, instead), masked);
    return isCut ? this.#withoutBegunSecret(shaped) : shaped;
  }

  /** Masks a query. @param query without the question mark, or a form-encoded body */
  query(query: string): string {
    return this.text(query.replaceAll(SECRET_PARAMETER, '$1[masked]'));
  }

  /** Masks a header value. @param name in lower case */
  header(name: string, value: string): string {
    if (name === 'authorization' || name === 'proxy-authorization')
      return `${/^[A-Za-z]{1,20} /.exec(value)?.[0] ?? ''}[masked]`;
    return SECRET_HEADER.test(name) ? '[masked]' : this.text(value);
  }

  #withoutBegunSecret(text: string): string {
    for (const secret of this.#known) {
      for (let length = secret.length - 1; length >= 4; length -= 1)
        if (text.endsWith(secret.slice(0, length))) return `${text.slice(0, -length)}[secret]`;
    }
    return text;
  }
}

const SLASH = String.raw`(?:\\?/|%2[fF]|\\u002[fF])`;

/** Patterns of secrets. Repetitions are bounded, so that no text takes long to scan. */
const SHAPES: readonly [RegExp, string][] = [
  [new RegExp(`(${SLASH}uploads${SLASH}[\\w.~-]{0,200}${SLASH})(?!\\[token\\])[^"'\\s?#<>\\\\\\]]+`, 'g'), '$1[token]'],
  [/(sk_sandbox_|(?<![a-zA-Z])sk_[a-z]{1,20}_)[\w-]{5,}/g, '$1[key]'],
  [/whsec_[\w+/=-]{5,}/g, 'whsec_[secret]'],
  [/(bearer\s{1,10})[\w.~+/=-]{16,}/gi, '$1[key]'],
  [
    /("[\w-]{0,40}(?:token|secret|password|api_?key|authorization)[\w-]{0,40}"\s{0,10}:\s{0,10}")(?:[^"\\]|\\.)*/gi,
    '$1[masked]',
  ],
];

const SECRET_PARAMETER = /((?:^|[?&])[\w-]{0,40}(?:token|secret|password|key|signature|auth)[\w-]{0,40}=)[^&#]*/gi;

/**
 * Names of headers with secrets. Cookies are included, because those for 127.0.0.1 may belong to any server on this
 * machine.
 */
const SECRET_HEADER = /^(set-)?cookie$|token|secret|password|api-?key|signature/;

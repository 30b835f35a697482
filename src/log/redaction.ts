import { secretForms } from './secret-forms.ts';

export const REDACTED = '[redacted]';

/** Shorter values would take ordinary words out of every line. */
const MIN_SECRET_LENGTH = 4;

/**
 * The values that must never be printed, and the patterns that give away the ones nobody registered. A line passes here twice:
 * each text on its own (`redactText`), and last the finished line (`redactLine`); redacting by key alone was measured to miss
 * `message`, `stack` and class instances.
 */
export class SecretValues {
  #forms: readonly string[] = [];

  /**
   * Registers a value: the API key, a password. Meant for a handful, not for one per file: signed addresses are found by their form.
   * Values under 4 characters are ignored.
   */
  add(value: string): void {
    if (value.length < MIN_SECRET_LENGTH) return;
    const forms = new Set([...this.#forms, ...secretForms(value)]);
    this.#forms = [...forms].toSorted((a, b) => b.length - a.length);
  }

  /** A message, a field or a stack before it is quoted. */
  redactText(text: string): string {
    return redactPatterns(replaceEach(text, this.#forms).replaceAll(HEADER, `$1${REDACTED}`), ADDRESS_IN_TEXT);
  }

  /** A finished line in whatever format: quotes and backslashes belong to the format and stay. */
  redactLine(line: string): string {
    const quotable = this.#forms.filter((form) => !form.includes('"'));
    return redactPatterns(replaceEach(line, quotable), ADDRESS_IN_LINE);
  }
}

/** Whether a field of that name holds something that must not be printed, whatever its value. */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key);
}

const SECRET_KEY =
  /authorization|cookie|api[-_ ]?key|token|secret|passw|passphrase|credential|signature|upload[-_ ]?(?:url|address)/i;

/** `authorization: Basic …` as clients print headers; to the end of the line or the closing quote. */
const HEADER = /((?:authorization|cookie|x-api-key)\\?["']?\s{0,8}[:=]\s{0,8}\\?["']?)[^"'\\\r\n]+/gi;

// Each of these always matches once it has begun, so hostile text costs linear time.
const ADDRESS_IN_TEXT = /[a-z][a-z\d+.-]{0,20}(?::\/\/|%3A%2F%2F)[^\s"'<>\p{Cc}]+/giu;
const ADDRESS_IN_LINE = /[a-z][a-z\d+.-]{0,20}(?::\/\/|%3A%2F%2F)[^\s"'<>\\\p{Cc}]+/giu;
const BEARER = /\b(Bearer(?:\s+|%20|\+))[^\s"',;<>\\\p{Cc}]+/giu;
const SIGNED_PARAMETER =
  /([?&;]|%3F|%26)(?:x-(?:amz|goog|oss|ms)-[\w-]{1,40}|sig|signature|(?:[a-z]+[-_])?token|(?:api[-_]?)?key|(?:aws)?accesskeyid|key-pair-id|policy|credential|expires)(?:=|%3D)[^\s"'<>\\\p{Cc}]*/giu;

function redactPatterns(text: string, address: RegExp): string {
  return text
    .replace(address, withoutQuery)
    .replace(BEARER, `$1${REDACTED}`)
    .replace(SIGNED_PARAMETER, `$1${REDACTED}`);
}

/** Origin and path; the query (the signature), the fragment and a password are what gives access. */
function withoutQuery(address: string): string {
  const anonymous = address.replace(/^([^/%]*(?::\/\/|%3A%2F%2F))[^/?#@]*@/i, `$1${REDACTED}@`);
  const end = anonymous.search(/[?#]|%3F|%23/i);
  if (end === -1) return anonymous;
  const mark = anonymous[end] === '%' ? anonymous.slice(end, end + 3) : anonymous.charAt(end);
  return anonymous.slice(0, end) + mark + REDACTED;
}

function replaceEach(text: string, forms: readonly string[]): string {
  return forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text);
}

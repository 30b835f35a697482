export const REDACTED = '[redacted]';

/** Shortest secret that is redacted: shorter values would blank out ordinary words. */
const MIN_SECRET_LENGTH = 4;

/**
 * Keeps secrets out of the log: registered values in every encoding, and unregistered secrets by pattern. Secrets are
 * redacted twice: in each text (`redactText`), then in the complete line (`redactLine`). Redacting by field name alone
 * was measured to miss `message`, `stack` and class instances.
 *
 * The client has its own `scrub` (packages/client, transport/scrub.ts). It knows the secrets of one exchange and cleans
 * its error messages before anyone sees them, including the entire paths of signed addresses. This class is the safety
 * net for texts of unknown origin, and keeps paths so that a log stays useful. The two share no code: the log must not
 * load the HTTP client, nor the client the log.
 */
export class SecretValues {
  #forms: readonly string[] = [];

  /**
   * Registers a secret such as the API key. Meant for a handful, not one per file: signed addresses are found by
   * pattern.
   *
   * @param value ignored if it has fewer than 4 characters
   */
  add(value: string): void {
    if (value.length < MIN_SECRET_LENGTH) return;
    const forms = new Set([...this.#forms, ...secretForms(value)]);
    // Longest first, so that no form leaves part of a longer one behind.
    this.#forms = [...forms].toSorted((a, b) => b.length - a.length);
  }

  /** Redacts a message, a field or a stack before it is quoted. */
  redactText(text: string): string {
    return redactPatterns(replaceEach(text, this.#forms).replaceAll(HEADER, `$1${REDACTED}`), ADDRESS_IN_TEXT);
  }

  /** Redacts a complete line in any format, leaving the format's quotes and backslashes intact. */
  redactLine(line: string): string {
    const quotable = this.#forms.filter((form) => !form.includes('"'));
    return redactPatterns(replaceEach(line, quotable), ADDRESS_IN_LINE);
  }
}

/** Whether a field's name suggests that its value is secret. */
export function isSecretKey(key: string): boolean {
  return SECRET_KEY.test(key);
}

const SECRET_KEY =
  /authorization|cookie|api[-_ ]?key|token|secret|passw|passphrase|credential|signature|upload[-_ ]?(?:url|address)/i;

/** Matches `authorization: Basic …`, as clients print headers, up to the end of the line or the closing quote. */
const HEADER = /((?:authorization|cookie|x-api-key)\\?["']?\s{0,8}[:=]\s{0,8}\\?["']?)[^"'\\\r\n]+/gi;

// Once begun, a match with any of these always succeeds, so hostile text costs linear time.
const ADDRESS_IN_TEXT = /[a-z][a-z\d+.-]{0,20}(?::\/\/|%3A%2F%2F)[^\s"'<>\p{Cc}]+/giu;
const ADDRESS_IN_LINE = /[a-z][a-z\d+.-]{0,20}(?::\/\/|%3A%2F%2F)[^\s"'<>\\\p{Cc}]+/giu;
const BEARER = /\b(Bearer(?:\s+|%20|\+))[^\s"',;<>\\\p{Cc}]+/giu;
const SIGNED_PARAMETER =
  /([?&;]|%3F|%26)(?:x-(?:amz|goog|oss|ms)-[\w-]{1,40}|sig|signature|(?:[a-z]+[-_])?token|(?:api[-_]?)?key|(?:aws)?accesskeyid|key-pair-id|policy|credential|expires)(?:=|%3D)[^\s"'<>\\\p{Cc}]*/giu;

/** Each pattern runs only on texts with a word that it needs: without V8's compiler, it takes ten times as long. */
function redactPatterns(text: string, address: RegExp): string {
  const hasPercent = text.includes('%');
  const withoutAddresses = hasPercent || text.includes('://') ? text.replace(address, withoutQuery) : text;
  const hasBearer = withoutAddresses.toLowerCase().includes('bearer');
  const withoutBearer = hasBearer ? withoutAddresses.replace(BEARER, `$1${REDACTED}`) : withoutAddresses;
  const mayBeSigned = hasPercent || ['?', '&', ';'].some((mark) => withoutBearer.includes(mark));
  return mayBeSigned ? withoutBearer.replace(SIGNED_PARAMETER, `$1${REDACTED}`) : withoutBearer;
}

/** Keeps the origin and path. The query (with the signature), the fragment and the password would grant access. */
function withoutQuery(address: string): string {
  const anonymous = address.replace(/^([^/%]*(?::\/\/|%3A%2F%2F))[^/?#]*@/i, `$1${REDACTED}@`);
  const end = anonymous.search(/[?#]|%3F|%23/i);
  if (end === -1) return anonymous;
  const mark = anonymous[end] === '%' ? anonymous.slice(end, end + 3) : anonymous.charAt(end);
  return anonymous.slice(0, end) + mark + REDACTED;
}

function replaceEach(text: string, forms: readonly string[]): string {
  return forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text);
}

/**
 * Returns every form in which a secret may appear: plain, percent-encoded, form-encoded, JSON-escaped, base64 and
 * base64url.
 */
function secretForms(value: string): readonly string[] {
  return [value, ...percentForms(value), JSON.stringify(value).slice(1, -1), ...base64Forms(value)];
}

function percentForms(value: string): readonly string[] {
  const component = encodeURIComponent(value.toWellFormed());
  const strict = component.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const form = new URLSearchParams({ v: value }).toString().slice('v='.length);
  return [component, strict, form].flatMap((text) => [
    text,
    text.replaceAll(/%[\dA-F]{2}/g, (hex) => hex.toLowerCase()),
  ]);
}

/**
 * Returns the base64 forms of a value. Base64 packs 3 bytes into 4 characters, so within a longer text (`user:key`) a
 * value has one of three encodings, depending on where it starts. Each form contains only the characters that depend on
 * the value alone.
 */
function base64Forms(value: string): readonly string[] {
  return [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor((bytes.length * 8) / 6);
    const core = bytes.toString('base64').slice(first, last);
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

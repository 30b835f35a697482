import { isShallow } from '@dropcast/sandbox/inspector/nesting';
import type { CapturedBody } from '../passing/body-capture.ts';
import { cleanHeaders, type ReceivedHeaders } from './clean-headers.ts';
import { hidden, withoutSignature, isSecretName, uploadHeaderFields } from './hidden.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { RecordedMessage } from '../recording.ts';
import { withoutLocalTokens } from '../upload-addresses.ts';

/**
 * How messages are cleaned. Secrets in known places or with a known form are removed here; secrets already seen are
 * removed by `withoutKnown`.
 */
export interface Cleaning {
  readonly secrets: KnownSecrets;
  /** Names of JSON fields whose texts are replaced, such as `title`. */
  readonly redacted: ReadonlySet<string>;
  /** Whether the request went to an upload address. If so, its redirect may carry a signature in the path. */
  readonly isUpload?: boolean;
}

/** Returns a message as it is recorded, with headers and body free of secrets. */
export function cleanMessage(headers: ReceivedHeaders, body: CapturedBody, cleaning: Cleaning): RecordedMessage {
  const recorded = cleanBody(headers['content-type']?.[0] ?? '', body, cleaning);
  const clean = cleanHeaders(headers, cleaning.secrets);
  const location = cleaning.isUpload === true && clean['location'] !== undefined ? { location: '/hidden' } : {};
  return { headers: { ...clean, ...location }, ...(recorded !== undefined && { body: recorded }) };
}

/** Removes known secrets from a JSON value, including its field names. */
export function withoutKnown(value: unknown, secrets: KnownSecrets): unknown {
  if (typeof value === 'string') return secrets.remove(withoutLocalTokens(value));
  if (typeof value === 'number') return secrets.remove(String(value)) === String(value) ? value : hidden;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutKnown(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [secrets.remove(name), withoutKnown(held, secrets)]),
  );
}

/** Returns path and query without the values of parameters whose names denote a secret. */
export function cleanTarget(target: string, { secrets }: Pick<Cleaning, 'secrets'>): string {
  const [path = '', ...query] = target.split('?');
  return query.length === 0 ? path : `${path}?${cleanPairs(query.join('?'), secrets)}`;
}

/** Removes secret values from pairs such as `a=1&b=%20`, leaving all other text unchanged byte by byte. */
function cleanPairs(pairs: string, secrets: KnownSecrets): string {
  return pairs
    .split('&')
    .map((pair) => {
      const [[name = '', value = ''] = []] = new URLSearchParams(pair);
      const isSecret = isSecretName(name) || withoutSignature(value) !== value;
      return isSecret && value !== '' ? `${pair.split('=')[0]}=${secrets.add('secret', value)}` : pair;
    })
    .join('&');
}

function cleanBody(type: string, body: CapturedBody, cleaning: Cleaning): RecordedMessage['body'] {
  if (body.bytes === 0) return undefined;
  const { bytes, sha256, text } = body;
  if (text === undefined || /\b(?:video|audio|image|octet-stream|multipart)\b/i.test(type)) return { bytes, sha256 };
  const json = parsed(text);
  if (json !== undefined) return isShallow(json, deepest) ? { json: cleanJson(json, cleaning) } : { bytes, sha256 };
  if (hasHiddenField(text, cleaning)) {
    learnSecretFields(text, cleaning.secrets);
    return { bytes, sha256 };
  }
  const isForm = /\bx-www-form-urlencoded\b/i.test(type);
  if (isForm) return { text: cleanPairs(text, cleaning.secrets) };
  return { text: withoutSignature(text) };
}

/** Deepest nesting level that is read. */
const deepest = 100;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function cleanJson(value: unknown, cleaning: Cleaning, name = ''): unknown {
  if (isSecretName(name)) return cleanSecret(value, cleaning.secrets);
  if (uploadHeaderFields.has(name)) return withoutHeaderValues(value);
  if (typeof value === 'string') return cleanText(value, name, cleaning);
  if (Array.isArray(value)) return value.map((item: unknown) => cleanJson(item, cleaning, name));
  if (typeof value !== 'object' || value === null) return value;
  // Everything inside a redacted field or `upload_url` is hidden too.
  const isWhole = cleaning.redacted.has(name) || name === 'upload_url';
  return Object.fromEntries(
    Object.entries(value).map(([key, held]) => [
      key,
      cleanJson(held, cleaning, isWhole && !isSecretName(key) ? name : key),
    ]),
  );
}

/** Keeps only the names of an upload's headers and its content type, because any other value may be a token. */
function withoutHeaderValues(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutHeaderValues(item));
  if (typeof value !== 'object' || value === null) return /^(?:content-type|name|key)$/i.test(name) ? value : hidden;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, withoutHeaderValues(held, key)]));
}

/** Registers everything inside a secret field as a secret. */
function cleanSecret(value: unknown, secrets: KnownSecrets): unknown {
  if (typeof value === 'string' || typeof value === 'number') return secrets.add('secret', String(value));
  if (Array.isArray(value)) return value.map((item: unknown) => cleanSecret(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, cleanSecret(held, secrets)]));
}

function cleanText(text: string, name: string, cleaning: Cleaning): string {
  const { secrets, redacted } = cleaning;
  if (redacted.has(name)) return secrets.add(name, isUnlikelyElsewhere(text) ? text : `${name}: ${text}`);
  if (name === 'upload_url') return withoutPath(text);
  if (hasHiddenField(text, cleaning)) {
    learnSecretFields(text, secrets);
    return hidden;
  }
  return withoutSignature(/^\/\S*\?/.test(text) ? cleanTarget(text, { secrets }) : text);
}

/** Whether a text may be removed everywhere else too. A title such as `videos` would match by chance. */
function isUnlikelyElsewhere(text: string): boolean {
  return text.length >= 12 || /\S\s\S/.test(text);
}

/** Hides everything after the host of an upload address outside the recorder, because any of it may be a credential. */
function withoutPath(text: string): string {
  const url = URL.parse(text);
  if (url === null || isOfRecorder(url)) return text;
  return `${url.protocol}//${url.host}/hidden`;
}

function isOfRecorder({ hostname, pathname }: URL): boolean {
  return hostname === '127.0.0.1' && /^\/uploads\/[^/]+\/\d+-[\w-]{22}$/.test(pathname);
}

/**
 * Whether a text contains JSON with a secret field: lines of JSON, JSON inside other text, or truncated JSON. The end
 * of the value cannot be determined there.
 * @param redacted names of additional secret fields
 */
function hasHiddenField(text: string, { redacted }: { readonly redacted: ReadonlySet<string> }): boolean {
  const names = text.matchAll(/["']([^"'\\]{1,100})\\*["']\s*:/g);
  return names.some(
    ([, name = '']) =>
      name === 'upload_url' || uploadHeaderFields.has(name) || redacted.has(name) || isSecretName(name),
  );
}

/** Registers the readable part of each field whose name denotes a secret. */
function learnSecretFields(text: string, secrets: KnownSecrets): void {
  // Names are limited in length, because searching for the partner of each quote would take too long in a text with
  // many.
  const fields = text.matchAll(/"((?:[^"\\]|\\.){1,60})"\s*:\s*"((?:[^"\\]|\\.)+)/gs);
  for (const [, name = '', value = ''] of fields) if (isSecretName(plain(name))) secrets.add('secret', plain(value));
}

function plain(escaped: string): string {
  try {
    return String(JSON.parse(`"${escaped}"`));
  } catch {
    return escaped;
  }
}

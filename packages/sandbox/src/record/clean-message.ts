import type { IncomingHttpHeaders } from 'node:http';
import type { CapturedBody } from './body-capture.ts';
import type { KnownSecrets } from './known-secrets.ts';
import type { RecordedMessage } from './recording.ts';

/** How messages are cleaned. Known secrets are removed from the whole line later; what is removed here has its place or its form. */
export interface Cleaning {
  readonly secrets: KnownSecrets;
  /** Names of JSON fields whose texts are replaced, such as `title`. */
  readonly redacted: ReadonlySet<string>;
}

/** The message as it is recorded: known headers, and a body without secrets. */
export function cleanMessage(headers: IncomingHttpHeaders, body: CapturedBody, cleaning: Cleaning): RecordedMessage {
  const recorded = cleanBody(headers['content-type'], body, cleaning);
  return { headers: cleanHeaders(headers, cleaning), ...(recorded !== undefined && { body: recorded }) };
}

/** Path and query without what their names call secret. */
export function cleanTarget(target: string): string {
  const url = new URL(target, 'http://localhost');
  const names = Array.from(url.searchParams.keys(), String);
  for (const name of names.filter(isSecretName)) url.searchParams.set(name, '[secret]');
  return `${url.pathname}${url.search}`;
}

/** Of the others only the names are recorded: who knows what they hold. */
const harmless = new Set([
  'accept',
  'accept-ranges',
  'age',
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'deprecation',
  'etag',
  'expect',
  'idempotency-key',
  'last-modified',
  'link',
  'location',
  'request-id',
  'retry-after',
  'server',
  'sunset',
  'transfer-encoding',
  'user-agent',
  'vary',
  'via',
  'warning',
  'www-authenticate',
  'x-request-id',
]);

function cleanHeaders(headers: IncomingHttpHeaders, { secrets }: Cleaning): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    clean[name] = cleanHeader(name, [value].flat().join(', '), secrets);
  }
  return clean;
}

function cleanHeader(name: string, value: string, secrets: KnownSecrets): string {
  const [, scheme = '', credentials] = /^(\S+)\s+(.+)$/.exec(value) ?? [];
  if (name === 'authorization' && credentials !== undefined) return `${scheme} ${secrets.add('key', credentials)}`;
  const isKept = harmless.has(name) || /^(?:x-)?rate-?limit/.test(name);
  return isKept ? withoutAddresses(value) : '[hidden]';
}

function cleanBody(type: string | undefined, body: CapturedBody, cleaning: Cleaning): RecordedMessage['body'] {
  if (body.bytes === 0) return undefined;
  const { bytes, sha256, text } = body;
  if (text === undefined || /\b(?:video|audio|image|octet-stream|multipart)\b/i.test(type ?? ''))
    return { bytes, sha256 };
  const json = body.isWhole ? parsed(text) : undefined;
  if (json !== undefined) return { json: cleanJson(json, cleaning) };
  return { text: withoutAddresses(text), ...(!body.isWhole && { cut: true }) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function cleanJson(value: unknown, cleaning: Cleaning, name = ''): unknown {
  if (typeof value === 'string') return cleanText(value, name, cleaning);
  if (Array.isArray(value)) return value.map((item: unknown) => cleanJson(item, cleaning, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, cleanJson(held, cleaning, key)]));
}

function cleanText(text: string, name: string, { secrets, redacted }: Cleaning): string {
  if (isSecretName(name)) return '[secret]';
  if (redacted.has(name)) return secrets.add(name, `${name}: ${text}`);
  return withoutAddresses(text);
}

function isSecretName(name: string): boolean {
  return /secret|token|passw|signature|credential|api.?key|authorization|^sig$/i.test(name);
}

/** Addresses keep origin and path: what is signed stands in the query, and a password before the host. */
function withoutAddresses(text: string): string {
  return text
    .replaceAll(/\b(https?:\/\/)[^\s/@"'<>]*@/gi, '$1[hidden]@')
    .replaceAll(/\b(https?:\/\/[^\s?#"'<>]*)\?[^\s"'<>]*/gi, '$1?[hidden]');
}

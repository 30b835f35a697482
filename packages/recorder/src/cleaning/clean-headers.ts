import { hidden, withoutQueries, withoutSignature, isSecretName } from './hidden.ts';
import { type KnownSecrets, shortestForm } from './known-secrets.ts';

/** All received values of each header, even of one that may occur only once. */
export type ReceivedHeaders = NodeJS.Dict<string[]>;

/** Returns headers as they are recorded, and registers their credentials as secrets. */
export function cleanHeaders(headers: ReceivedHeaders, secrets: KnownSecrets): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, values] of Object.entries(headers))
    if (values !== undefined) clean[name] = cleanHeader(name, values, secrets);
  return clean;
}

function cleanHeader(name: string, values: readonly string[], secrets: KnownSecrets): string {
  if (name === 'authorization' || name === 'proxy-authorization')
    return values.map((value) => cleanCredentials(value, secrets)).join(', ');
  if (name === 'cookie' || name === 'set-cookie') {
    for (const value of values) for (const cookie of cookiesIn(name, value)) secrets.add('cookie', cookie);
    return hidden;
  }
  if (isSecretName(name)) return values.map((value) => secrets.add('key', value)).join(', ');
  const value = values.join(', ');
  if (name === 'location' || name === 'link') return withoutQueries(withoutSignature(value));
  const isKept = harmless.has(name) || /^(?:x-)?rate-?limit/.test(name);
  return isKept ? withoutSignature(value) : hidden;
}

/** Cleans a scheme and its credentials (RFC 9110 section 11.4); services also accept a bare key. */
function cleanCredentials(value: string, secrets: KnownSecrets): string {
  const [, scheme, credentials] = /^(\S+)\s+(.+)$/.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) return secrets.add('key', value);
  const parts = scheme.toLowerCase() === 'basic' ? passwordIn(credentials) : namedSecretsIn(credentials);
  for (const part of parts) secrets.add('password', part);
  return `${scheme} ${secrets.add('key', credentials)}`;
}

/** Decodes `name:password` from base64 (RFC 7617). If the password is missing or a dummy, the name is the key. */
function passwordIn(credentials: string): readonly string[] {
  const [, name = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  return [password.length < shortestForm ? name : '', password].filter((part) => part !== '');
}

/** Finds secrets such as `token="..."` (RFC 9110 section 11.2). */
function namedSecretsIn(credentials: string): readonly string[] {
  const pairs = [...credentials.matchAll(/([\w-]+)\s*=\s*"([^"]+)"/g)];
  return pairs.flatMap(([, name = '', value = '']) => (isSecretName(name) ? [value] : []));
}

/** Returns the values of all cookies, or of the one being set, without its attributes. */
function cookiesIn(name: string, header: string): readonly string[] {
  const pairs = header.split(/;\s*/);
  return (name === 'cookie' ? pairs : pairs.slice(0, 1)).flatMap((pair) => {
    const value = pair.slice(pair.indexOf('=') + 1).replaceAll(/^"|"$/g, '');
    return value === '' ? [] : [value];
  });
}

/** Headers whose values are recorded. Others are recorded by name only, because their values may be secret. */
const harmless = new Set([
  'accept',
  'accept-ranges',
  'age',
  'allow',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'deprecation',
  'etag',
  'expect',
  'idempotency-key',
  'last-modified',
  'range',
  'request-id',
  'retry-after',
  'server',
  'sunset',
  'transfer-encoding',
  'tus-resumable',
  'upload-defer-length',
  'upload-length',
  'upload-offset',
  'user-agent',
  'vary',
  'via',
  'warning',
  'www-authenticate',
  'x-request-id',
]);

import type { IncomingHttpHeaders } from 'node:http';
import { hidden, withoutSignature } from './hidden.ts';
import type { KnownSecrets } from './known-secrets.ts';
import { isSecretName } from './secret-names.ts';

/** The headers as they are recorded. What they authorise with becomes known. */
export function cleanHeaders(headers: IncomingHttpHeaders, secrets: KnownSecrets): Record<string, string> {
  const clean: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) clean[name] = cleanHeader(name, [value].flat(), secrets);
  return clean;
}

function cleanHeader(name: string, values: readonly string[], secrets: KnownSecrets): string {
  if (name === 'authorization' || name === 'proxy-authorization') return cleanCredentials(values.join(', '), secrets);
  if (name === 'cookie' || name === 'set-cookie') {
    for (const value of values) for (const cookie of cookiesIn(name, value)) secrets.add('cookie', cookie);
    return hidden;
  }
  const value = values.join(', ');
  if (isSecretName(name)) return secrets.add('key', value);
  const isKept = harmless.has(name) || /^(?:x-)?rate-?limit/.test(name);
  return isKept ? withoutSignature(value) : hidden;
}

/** RFC 9110 section 11.4: a scheme and credentials; services also take a bare key. */
function cleanCredentials(value: string, secrets: KnownSecrets): string {
  const [, scheme, credentials] = /^(\S+)\s+(.+)$/.exec(value) ?? [];
  if (scheme === undefined || credentials === undefined) return secrets.add('key', value);
  if (scheme.toLowerCase() === 'basic') for (const part of passwordIn(credentials)) secrets.add('password', part);
  return `${scheme} ${secrets.add('key', credentials)}`;
}

/** RFC 7617: `name:password`, in base64. */
function passwordIn(credentials: string): readonly string[] {
  const [, password = ''] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  return password === '' ? [] : [password];
}

/** The values of all cookies, or the one that is set, without its attributes. */
function cookiesIn(name: string, header: string): readonly string[] {
  const pairs = header.split(/;\s*/);
  return (name === 'cookie' ? pairs : pairs.slice(0, 1)).flatMap((pair) => {
    const value = pair.slice(pair.indexOf('=') + 1);
    return value === '' ? [] : [value];
  });
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

import { type Environment, variable } from './environment.ts';
import { readRegularFile } from './file-access.ts';
import { passwordIn } from './addresses.ts';
import { authorityFiles, resolvePath } from './paths.ts';
import { type Finding, error, warning } from './problem.ts';
import { type KeyPath, TaggedValue, formatKeyPath, property, textOf } from './raw-tree.ts';
import type { SecretKind } from './schema-values.ts';
import { type SecretPlace, secretPlaces } from './json-schema.ts';
import { type Found, type SecretKey, type SecretSource, lookUp } from './secret-source.ts';
import { type Secret, secret } from './secret.ts';

/** A configuration's tree with its secrets, and what was read along with them. */
export interface Resolved {
  /** The tree with a {@link Secret} wherever one was resolved. */
  readonly tree: unknown;
  readonly apiKeyFrom: SecretOrigin;
  readonly ledger: LedgerSecrets;
  readonly authorities: AuthoritiesByHost;
  /** Never contain any part of a secret. */
  readonly findings: readonly Finding[];
}

/**
 * Where a secret came from. Files are read again at each reload; environment variables and credentials keep the values
 * they had at startup.
 */
export type SecretOrigin = 'file' | 'environment' | 'credential';

/** Certificate authorities to trust, as PEM text, by host name, `*.` and a name, or `*`. */
export type AuthoritiesByHost = Readonly<Record<string, string>>;

/** The password and certificates for a PostgreSQL ledger. */
export interface LedgerSecrets {
  readonly password: Secret | null;
  /** Trusted certificate authorities as PEM text; null for the system's. */
  readonly ca: string | null;
  /**
   * Why the password or the certificate authorities could not be read, in a command that needs no key; null if they
   * were read or none are configured.
   */
  readonly unread: string | null;
}

/**
 * Resolves every secret in the tree.
 *
 * @param use `without key` reads only what a ledger needs. Someone who only operates a daemon need not be able to read
 *   even that
 */
export async function resolveSecrets(
  tree: unknown,
  source: SecretSource,
  use: 'with key' | 'without key',
): Promise<Resolved> {
  const { findings: ofLedger, ...ledger } = await resolveLedgerSecrets(tree, source);
  if (use === 'without key') {
    const refused = ofLedger.find(({ severity }) => severity === 'error');
    const unread = refused === undefined ? null : `${refused.path.join('.')}: ${refused.message}`;
    return { tree, apiKeyFrom: 'file', ledger: { ...ledger, unread }, authorities: {}, findings: [] };
  }
  const authorities = await resolveAuthorities(tree, source);
  const places = secretPlaces(tree).filter(({ path, kind, raw }) => path[0] !== 'ledger' && !isOff(kind, raw));
  const isStandard = ['standard', undefined].includes(textOf(property(property(tree, 'service'), 'webhook_scheme')));
  const kindOf = (kind: SecretKind) => (kind === 'webhook secret' && !isStandard ? 'webhook text' : kind);
  const resolved = await Promise.all(
    places.map((place) => resolveSecret({ ...place, kind: kindOf(place.kind) }, source)),
  );
  return {
    tree: resolved.reduce((rest, { path, secret: value }) => (value === null ? rest : put(rest, path, value)), tree),
    apiKeyFrom: resolved.find(({ path }) => path.join('.') === 'service.api_key')?.origin ?? 'file',
    ledger: { ...ledger, unread: null },
    authorities: authorities.byHost,
    findings: [...resolved.flatMap(({ findings }) => findings), ...ofLedger, ...authorities.findings],
  };
}

function isOff(kind: SecretKind, raw: unknown): boolean {
  return kind === 'webhook secret' && raw === 'off';
}

/** Copies the tree with another value at a place. */
function put(tree: unknown, [step, ...rest]: KeyPath, value: unknown): unknown {
  if (step === undefined) return value;
  if (Array.isArray(tree)) return tree.with(Number(step), put(tree[Number(step)], rest, value));
  return { ...(tree as object), [step]: put(property(tree, String(step)), rest, value) };
}

interface ResolvedSecret {
  readonly path: KeyPath;
  readonly secret: Secret | null;
  readonly origin: SecretOrigin;
  readonly findings: readonly Finding[];
}

/** Resolves the secret at one place in the configuration. */
export async function resolveSecret({ path, raw, kind }: SecretPlace, source: SecretSource): Promise<ResolvedSecret> {
  const key = secretKey(path, kind);
  // Most addresses and headers are not secret, so they may be written in plain text.
  const isPlain = typeof raw === 'string' && (kind === 'address' || kind === 'topic' || isHarmless(path, kind));
  const found = isPlain ? plain(raw, key) : await lookUp(raw, key, source);
  const findings = [
    ...(found.warning === undefined ? [] : [warning(path, found.warning)]),
    ...(found.refusal === undefined ? [] : [error(path, found.refusal)]),
  ];
  return {
    path,
    secret: found.value === undefined ? null : secret(found.value),
    origin: originOf(raw, source.environment),
    findings,
  };
}

function isHarmless(path: KeyPath, kind: SecretKind): boolean {
  return kind === 'header' && !/auth|cookie|token|key|secret|sign/i.test(String(path.at(-1)));
}

function plain(value: string, key: SecretKey): Found {
  const refusal = key.refuse(value);
  return refusal === null ? { value } : { refusal };
}

/** How messages describe the secret, and its permitted form. */
function secretKey(path: KeyPath, kind: SecretKind): SecretKey {
  const noun = kind === 'webhook secret' || kind === 'webhook text' ? 'secret' : kind;
  const isText = kind === 'password' || kind === 'header' || kind === 'webhook text';
  const [what, example] = nameOf(path, kind, noun);
  return {
    noun,
    what,
    exampleVariable: `${path[0] === 'service' ? 'DROPCAST_' : ''}${example.toUpperCase()}`,
    exampleCredential: example,
    isText,
    refuse: refusals[kind] ?? (() => null),
  };
}

/** @returns the full name of a secret, and a name for an example */
function nameOf(path: KeyPath, kind: SecretKind, noun: string): readonly [what: string, example: string] {
  if (path[0] === 'notify') return [`the ${noun} of ${formatKeyPath(path.slice(0, 2))}`, `notify_${noun}`];
  if (path[0] === 'ledger') return ['the password of the ledger', 'ledger_password'];
  if (kind === 'header') return [`the header ${String(path.at(-1))} of uploads`, 'upload_header'];
  return kind === 'key' ? ['the API key', 'api_key'] : ['the webhook secret', 'webhook_secret'];
}

/**
 * Checks by kind of secret. The API key has none: it is sent in a header verbatim, and `lookUp` already requires
 * printable ASCII without spaces (RFC 9110, 5.5; RFC 6750, 2.1).
 */
const refusals: Partial<Record<SecretKind, SecretKey['refuse']>> = {
  'webhook secret': (value) =>
    /^whsec_[A-Za-z0-9+/]{2,}={0,2}$/.test(value)
      ? null
      : 'is not a webhook secret, which is whsec_ followed by base64; for other ones, set service.webhook_scheme',
  'webhook text': ({ length }) =>
    length >= 16 && length <= 500 ? null : 'has to have 16 to 500 characters to be a webhook secret',
  address: (value) => (isWebAddress(value) ? null : 'is not a web address; it begins with https://'),
  topic: (value) => (/^[\w-]{1,64}$/.test(value) ? null : 'is not a topic: letters, digits, _ and -, at most 64'),
  // Node refuses all other characters in a header (RFC 9110, 5.5).
  header: (value) => (/^[\x20-\x7e]+$/.test(value) ? null : 'contains a character that no header may have'),
};

function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^/\\\s]/i.test(text) || /[\s\\]/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

function originOf(raw: unknown, environment: Environment): SecretOrigin {
  if (!(raw instanceof TaggedValue) || raw.tag === 'file') return 'file';
  if (raw.tag === 'env') return 'environment';
  return variable(environment, 'CREDENTIALS_DIRECTORY') === undefined ? 'file' : 'credential';
}

/** Reads the ledger password, which may also be in the address, and the certificate authorities for its server. */
async function resolveLedgerSecrets(
  tree: unknown,
  source: SecretSource,
): Promise<Omit<LedgerSecrets, 'unread'> & { readonly findings: readonly Finding[] }> {
  const ledger = property(tree, 'ledger');
  const ca = await readAuthorities(['ledger', 'ca'], textOf(property(ledger, 'ca')), source);
  const inAddress = passwordIn(textOf(ledger) ?? textOf(property(ledger, 'url')) ?? '');
  const beside = property(ledger, 'password');
  if (inAddress !== null && beside !== undefined) {
    const twice = error(['ledger', 'password'], 'the password is written twice; remove the one in the address');
    return { password: null, ca: ca.text, findings: [twice, ...ca.findings] };
  }
  const path = typeof ledger === 'string' ? ['ledger'] : ['ledger', inAddress === null ? 'password' : 'url'];
  const password = await resolveSecret({ path, raw: inAddress ?? beside, kind: 'password' }, source);
  return { password: password.secret, ca: ca.text, findings: [...password.findings, ...ca.findings] };
}

/** Reads the files of `tls.ca`. */
async function resolveAuthorities(
  tree: unknown,
  source: SecretSource,
): Promise<{ readonly byHost: AuthoritiesByHost; readonly findings: readonly Finding[] }> {
  const read = await Promise.all(
    authorityFiles(tree).map(async ({ path, host, file }) => ({
      host,
      ...(await readAuthorities(path, file, source)),
    })),
  );
  return {
    byHost: Object.fromEntries(read.flatMap(({ host, text }) => (text === null ? [] : [[host, text]]))),
    findings: read.flatMap(({ findings }) => findings),
  };
}

const MOST_CERTIFICATE_BYTES = 1024 * 1024;

/** Reads the certificates of the file that a key names; null without one. */
async function readAuthorities(
  key: KeyPath,
  path: string | undefined,
  { configFile, environment }: SecretSource,
): Promise<{ readonly text: string | null; readonly findings: readonly Finding[] }> {
  if (path === undefined || path.trim() === '') return { text: null, findings: [] };
  const file = resolvePath(path, configFile, environment);
  const refused = (message: string) => ({ text: null, findings: [error(key, message)] });
  const read = await readRegularFile(file, MOST_CERTIFICATE_BYTES);
  if (!read.ok) return refused(`cannot read the certificates in ${file}: ${read.message}`);
  const text = read.bytes.toString('latin1');
  if (!text.includes('-----BEGIN CERTIFICATE-----')) return refused(`${file} contains no certificate in PEM format`);
  return { text, findings: [] };
}

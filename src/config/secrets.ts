import { resolveAuthorities } from './authorities.ts';
import type { AuthoritiesByHost, SecretOrigin } from './config.ts';
import { type Environment, variable } from './environment.ts';
import { type LedgerSecrets, ledgerSecretsIfReadable, resolveLedgerSecrets } from './ledger-secrets.ts';
import { type Finding, error, warning } from './problem.ts';
import { type KeyPath, TaggedValue, formatKeyPath, property, textOf } from './raw-tree.ts';
import type { SecretKind } from './schema-values.ts';
import { type SecretPlace, secretPlaces } from './secret-places.ts';
import { type Found, type SecretKey, type SecretSource, lookUp } from './secret-source.ts';
import { type Secret, secret } from './secret.ts';

/** A configuration's resolved secrets, for `assemble`. */
export interface Secrets {
  /** Secrets by dotted path: `service.api_key`, `notify.0.url`. Empty if secrets are not read. */
  readonly byPath: ReadonlyMap<string, Secret>;
  readonly apiKeyFrom: SecretOrigin;
  readonly ledger: LedgerSecrets;
  readonly authorities: AuthoritiesByHost;
}

/**
 * Resolves every secret in the tree. Findings never contain any part of a secret.
 *
 * @param use `without key` reads only what a ledger needs, if permitted
 * @returns `secrets` is null if there is no key
 */
export async function resolveSecrets(
  tree: unknown,
  source: SecretSource,
  use: 'with key' | 'without key',
): Promise<{ readonly secrets: Secrets | null; readonly findings: readonly Finding[] }> {
  if (use === 'without key') {
    const ledger = await ledgerSecretsIfReadable(tree, source);
    return { secrets: { byPath: new Map(), apiKeyFrom: 'file', ledger, authorities: {} }, findings: [] };
  }
  const ledger = await resolveLedgerSecrets(tree, source);
  const { authorities, findings: ofAuthorities } = await resolveAuthorities(tree, source);
  const places = secretPlaces(tree).filter(({ path, kind, raw }) => path[0] !== 'ledger' && !isOff(kind, raw));
  const isStandard = ['standard', undefined].includes(textOf(property(property(tree, 'service'), 'webhook_scheme')));
  const kindOf = (kind: SecretKind) => (kind === 'webhook secret' && !isStandard ? 'webhook text' : kind);
  const resolved = await Promise.all(
    places.map((place) => resolveSecret({ ...place, kind: kindOf(place.kind) }, source)),
  );
  const findings = [...resolved.flatMap((each) => each.findings), ...ledger.findings, ...ofAuthorities];
  const found = resolved.flatMap((each) => (each.secret === null ? [] : [[each.key, each.secret] as const]));
  const apiKey = resolved.find(({ key, secret: value }) => key === 'service.api_key' && value !== null);
  if (apiKey === undefined) return { secrets: null, findings };
  return {
    secrets: { byPath: new Map(found), apiKeyFrom: apiKey.origin, ledger: ledger.secrets, authorities },
    findings,
  };
}

function isOff(kind: SecretKind, raw: unknown): boolean {
  return kind === 'webhook secret' && raw === 'off';
}

interface ResolvedSecret {
  /** The secret's path, joined with dots. */
  readonly key: string;
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
    key: path.join('.'),
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
  const common = { noun, isText, refuse: refusals[kind] ?? (() => null) };
  if (path[0] === 'notify')
    return {
      ...common,
      what: `the ${noun} of ${formatKeyPath(path.slice(0, 2))}`,
      exampleVariable: `NOTIFY_${noun.toUpperCase()}`,
      exampleCredential: `notify_${noun}`,
    };
  if (kind === 'header')
    return {
      ...common,
      what: `the header ${String(path.at(-1))} of uploads`,
      exampleVariable: 'UPLOAD_HEADER',
      exampleCredential: 'upload_header',
    };
  const name = kind === 'key' ? 'api_key' : 'webhook_secret';
  return {
    ...common,
    what: kind === 'key' ? 'the API key' : 'the webhook secret',
    exampleVariable: `DROPCAST_${name.toUpperCase()}`,
    exampleCredential: name,
  };
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

import { error, warning, type Finding } from './problem.ts';
import { notifySecretsIn, type SecretPlace } from './notify-secret-places.ts';
import { formatKeyPath, type KeyPath } from './raw-tree.ts';
import { secret, type Secret } from './secret.ts';
import { lookUp, type Found, type SecretKey, type SecretSource } from './secret-source.ts';

/**
 * Finds what the targets of `notify` keep secret: addresses, topics, tokens, passwords and headers. No finding holds any part of one.
 *
 * @returns by key, like `notify[0].url`
 */
export async function resolveNotifySecrets(
  tree: unknown,
  source: SecretSource,
): Promise<{ readonly secrets: ReadonlyMap<string, Secret>; readonly findings: readonly Finding[] }> {
  const found = await Promise.all(notifySecretsIn(tree).map((place) => resolve(place, source)));
  return {
    secrets: new Map(found.flatMap(({ key, value }) => (value === null ? [] : [[key, secret(value)] as const]))),
    findings: found.flatMap(({ findings }) => findings),
  };
}

async function resolve(
  { path, raw, kind }: SecretPlace,
  source: SecretSource,
): Promise<{ readonly key: string; readonly value: string | null; readonly findings: readonly Finding[] }> {
  const key = secretKey(path, kind);
  // A quoted header is the one key that formatKeyPath may write in another way.
  const name = `notify[${path[1]}].${path.slice(2).join('.')}`;
  // An address may be written as it is: most are no secret, and who has one that is may hide it.
  const isPlain = typeof raw === 'string' && (kind === 'address' || kind === 'topic' || isHarmless(path, kind));
  const found = isPlain ? plain(raw, key) : await lookUp(raw, key, source);
  const findings = found.warning === undefined ? [] : [warning(path, found.warning)];
  if (found.value !== undefined) return { key: name, value: found.value, findings };
  const refusal = found.refusal === undefined ? [] : [error(path, found.refusal)];
  return { key: name, value: null, findings: [...findings, ...refusal] };
}

function isHarmless(path: KeyPath, kind: SecretPlace['kind']): boolean {
  return kind === 'header' && !/auth|cookie|token|key|secret|sign/i.test(String(path.at(-1)));
}

function plain(value: string, key: SecretKey): Found {
  const refusal = key.refuse(value);
  return refusal === null ? { value } : { refusal };
}

const nouns = { address: 'address', topic: 'topic', token: 'token', password: 'password', header: 'header' } as const;

function secretKey(path: KeyPath, kind: SecretPlace['kind']): SecretKey {
  const noun = nouns[kind];
  return {
    path,
    noun,
    what: `the ${noun} of ${formatKeyPath(path.slice(0, 2))}`,
    exampleVariable: `NOTIFY_${noun.toUpperCase()}`,
    exampleCredential: `notify_${noun}`,
    isText: kind === 'password' || kind === 'header',
    refuse: (value) => {
      if (kind === 'address') return isWebAddress(value) ? null : 'is not a web address; it begins with https://';
      if (kind === 'topic')
        return /^[\w-]{1,64}$/.test(value) ? null : 'is not a topic: letters, digits, _ and -, at most 64';
      // Node refuses these characters in a header (RFC 9110, 5.5).
      if (kind === 'header')
        return /^[\x20-\x7e]+$/.test(value) ? null : 'contains a character that no header may have';
      return null;
    },
  };
}

function isWebAddress(text: string): boolean {
  if (!/^https?:\/\/[^/\\\s]/i.test(text) || /[\s\\]/.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

import { isMapping, listOf, property, TaggedValue, textOf, type KeyPath } from './raw-tree.ts';

/** What `!file` names in them. */
export function notifySecretFiles(tree: unknown): readonly string[] {
  return notifySecretsIn(tree).flatMap(({ raw }) =>
    raw instanceof TaggedValue && raw.tag === 'file' ? [raw.argument] : [],
  );
}

/** A value of `notify` that may be a secret. */
export interface SecretPlace {
  readonly path: KeyPath;
  readonly raw: unknown;
  readonly kind: 'address' | 'topic' | 'token' | 'password' | 'header';
}

/** Every such value that is written. */
export function notifySecretsIn(tree: unknown): readonly SecretPlace[] {
  return listOf(property(tree, 'notify')).flatMap((target, index) => {
    const type = textOf(property(target, 'type')) ?? '';
    const headers = property(target, 'headers');
    return [
      ...(secretKeys[type] ?? []).map(([name, kind]) => ({
        path: ['notify', index, name],
        raw: property(target, name),
        kind,
      })),
      ...(type === 'webhook' && isMapping(headers) ? Object.keys(headers) : []).map((name) => ({
        path: ['notify', index, 'headers', name],
        raw: property(headers, name),
        kind: 'header' as const,
      })),
    ].filter(({ raw }) => raw !== undefined);
  });
}

const secretKeys: Readonly<Record<string, readonly (readonly [string, SecretPlace['kind']])[]>> = {
  webhook: [
    ['url', 'address'],
    ['token', 'token'],
  ],
  ntfy: [
    ['topic', 'topic'],
    ['token', 'token'],
  ],
  email: [['password', 'password']],
  heartbeat: [['url', 'address']],
};

import { type JsonSchema, markedSchema, membersOf } from './json-schema.ts';
import { type KeyPath, TaggedValue, isMapping, property, textOf } from './raw-tree.ts';
import type { SecretKind } from './schema-values.ts';

/** The place of a value that is a secret or names the source of one. */
export interface SecretPlace {
  readonly path: KeyPath;
  readonly raw: unknown;
  readonly kind: SecretKind;
}

/** All values in the tree that the schema marks as secret. */
export function secretPlaces(tree: unknown): readonly SecretPlace[] {
  return placesIn(tree, markedSchema, []);
}

function placesIn(raw: unknown, schema: JsonSchema, path: KeyPath): readonly SecretPlace[] {
  const kind = schema['x-secret'];
  if (kind !== undefined) return raw === undefined ? [] : [{ path, raw, kind }];
  if (Array.isArray(raw)) return raw.flatMap((each, index) => placesIn(each, schema.items ?? {}, [...path, index]));
  if (!isMapping(raw)) return [];
  const { properties, others } = membersOf(schema, raw['type']);
  return Object.entries(raw).flatMap(([name, each]) => placesIn(each, properties[name] ?? others, [...path, name]));
}

/** The `!file` targets among the secrets. */
export function secretFiles(tree: unknown): readonly string[] {
  return secretPlaces(tree).flatMap(({ raw }) =>
    raw instanceof TaggedValue && raw.tag === 'file' ? [raw.argument] : [],
  );
}

/** The files of `tls.ca` by host, in a tree that may have mistakes elsewhere. */
export function authorityFiles(
  tree: unknown,
): readonly { readonly path: KeyPath; readonly host: string; readonly file: string }[] {
  const path = ['tls', 'ca'];
  const ca = property(property(tree, 'tls'), 'ca');
  if (typeof ca === 'string') return [{ path, host: '*', file: ca }];
  if (!isMapping(ca) || ca instanceof TaggedValue) return [];
  return Object.entries(ca).flatMap(([host, value]) => {
    const file = textOf(value);
    return file === undefined ? [] : [{ path: [...path, host], host: host.toLowerCase(), file }];
  });
}

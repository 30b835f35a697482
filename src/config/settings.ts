import { withoutPassword } from './ledger-address.ts';
import { schemaAt } from './json-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { formatKeyPath, isMapping, TaggedValue } from './raw-tree.ts';
import type { KeyPath } from './raw-tree.ts';

/** One value of the configuration, as a person reads it. */
export interface Setting {
  /** `uploads.concurrency`, `folders[0].settle` */
  readonly key: string;
  /** As it is written. A secret is `[secret]`, or says where it is: `!credential api_key`. */
  readonly value: string;
  /** In the file, from 1; null: it is not written, and the default holds. */
  readonly line: number | null;
}

/**
 * What the file says, value by value, without the rules.
 *
 * @param lineOf a key
 * @param secrets values that must not be seen
 */
export function writtenSettings(
  tree: unknown,
  lineOf: (key: string) => number,
  secrets: readonly string[],
): readonly Setting[] {
  const hidden = secrets.filter((secret) => secret !== '');
  const leaf = (path: KeyPath, value: unknown): Setting => {
    const key = formatKeyPath(path);
    const text = isLedger(key) ? withoutPassword(shown(value), ':[secret]') : shown(value);
    return { key, value: hidden.some((secret) => text.includes(secret)) ? '[secret]' : text, line: lineOf(key) };
  };
  const walk = (path: KeyPath, value: unknown): readonly Setting[] => {
    if (isRules(path)) return [];
    if (value instanceof TaggedValue) return [leaf(path, value)];
    if (isMapping(value)) return Object.entries(value).flatMap(([name, each]) => walk([...path, name], each));
    if (Array.isArray(value) && value.some(isMapping))
      return value.flatMap((each, index) => walk([...path, index], each));
    return path.length === 0 ? [] : [leaf(path, value)];
  };
  return walk([], tree);
}

/** Its address may have a password in it. */
function isLedger(key: string): boolean {
  return key === 'ledger' || key === 'ledger.url';
}

/** Of every folder, the largest part of the file, and shown as a table. */
function isRules(path: KeyPath): boolean {
  return path.length === 3 && path[0] === 'folders' && path[2] === 'rules';
}

/**
 * With the defaults of what is not written.
 *
 * @param place of a mapping: empty, or `folders[0]`
 * @param ofMachine values of keys whose default depends on the machine
 * @returns the values in the order of the documentation; of lists of mappings (`folders`, `notify`) only what is written
 */
export function withDefaults(
  written: readonly Setting[],
  place = '',
  ofMachine: Readonly<Record<string, string>> = {},
): readonly Setting[] {
  const prefix = place === '' ? '' : `${place}.`;
  return defaultsIn(place).flatMap(({ name, standard }): readonly Setting[] => {
    const key = prefix + name;
    const own = written.filter(
      (each) => each.key === key || each.key.startsWith(`${key}.`) || each.key.startsWith(`${key}[`),
    );
    if (own.length > 0) return own;
    const value = standard === undefined ? ofMachine[key] : shown(standard);
    return value === undefined ? [] : [{ key, value, line: null }];
  });
}

interface Known {
  readonly name: string;
  readonly standard: unknown;
}

function defaultsIn(place: string): readonly Known[] {
  const isFolder = place !== '';
  const leaves = leavesOf(schemaAt(isFolder ? ['folders', 0] : []) ?? {});
  return leaves.filter(({ name }) => name !== (isFolder ? 'rules' : 'folders'));
}

function leavesOf(schema: JsonSchema & { readonly default?: unknown }, name = ''): readonly Known[] {
  if (schema.properties === undefined) return [{ name, standard: schema.default }];
  return Object.entries(schema.properties).flatMap(([step, each]) =>
    leavesOf(each, name === '' ? step : `${name}.${step}`),
  );
}

function shown(value: unknown): string {
  if (value instanceof TaggedValue) return `!${value.tag} ${value.argument}`;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(shown).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

import { withoutPassword } from './addresses.ts';
import { schemaAt } from './json-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { formatKeyPath, isMapping, TaggedValue } from './raw-tree.ts';
import type { KeyPath } from './raw-tree.ts';

/** One configured value, for display. */
export interface Setting {
  /** The key, such as `uploads.concurrency` or `folders[0].settle`. */
  readonly key: string;
  /** The value as written. A secret is shown as `[secret]` or its source, such as `!credential api_key`. */
  readonly value: string;
  /** Line number in the file, from 1; null if the key is missing and the default applies. */
  readonly line: number | null;
}

/**
 * Lists the settings written in the file, value by value, without the rules.
 *
 * @param lineOf returns the line of a key
 * @param secrets values to hide
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

/** Whether a key holds the ledger's address, which may contain a password. */
function isLedger(key: string): boolean {
  return key === 'ledger' || key === 'ledger.url';
}

/** Whether a path leads to rules. Rules are the largest part of the file and are shown as a table. */
function isRules(path: KeyPath): boolean {
  return path.length === 3 && path[0] === 'folders' && path[2] === 'rules';
}

/**
 * Adds default values for missing keys.
 *
 * @param place of a mapping: empty, or `folders[0]`
 * @param ofMachine values for keys whose default depends on the machine
 * @returns the values in the order of the documentation; for lists of mappings (`folders`, `notify`), only the written
 *   ones
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

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { configJsonSchema } from '../../src/config/json-schema.ts';
import type { JsonSchema } from '../../src/config/json-schema.ts';
import { checkSidecar, SIDECAR_KEYS } from '../../src/routing/sidecar.ts';
import { renderTitle, TEMPLATE_WORDS } from '../../src/routing/template.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8');

/** Every key of the schema that has no keys below it: `folders[].rules[].match`. */
function leaves(schema: JsonSchema, key = ''): string[] {
  if (schema.items !== undefined && (schema.items.properties ?? schema.items.items) !== undefined)
    return leaves(schema.items, `${key}[]`);
  const inner = Object.entries(schema.properties ?? {});
  return inner.length === 0
    ? [key]
    : inner.flatMap(([name, below]) => leaves(below, key === '' ? name : `${key}.${name}`));
}

/** What the first column of the tables below a heading names. */
function documented(heading: string): readonly string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const cells = section.match(/(?<=^\| ).*?(?= \|)/gm) ?? [];
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

describe('docs/configuration.md', () => {
  test('has every key of the schema, and no other', () => {
    const keys = leaves(configJsonSchema());
    const told = documented('Every key');
    expect(keys.filter((key) => !told.some((name) => key === name || key.startsWith(`${name}[`)))).toEqual([]);
    const known = (name: string): boolean => keys.some((key) => key === name || key.startsWith(`${name}[`));
    expect(told.filter((name) => !known(name))).toEqual([]);
  });

  test('has every word of templates, and no other, each with what it is for the file that it names', () => {
    expect(documented('Words in templates')).toEqual(TEMPLATE_WORDS.map((word) => `{${word}}`));
    const path = /For `([^`]+)`,\s+changed/.exec(page)?.[1] ?? '';
    const rows = [...page.matchAll(/^\| `(\{[\w:]+\})` \| [^|]*\| `([^`]+)` \|$/gm)];
    expect(rows).toHaveLength(TEMPLATE_WORDS.length);
    const modifiedMs = new Date(2026, 10, 20, 18, 0).getTime();
    for (const [, word = '', value = ''] of rows) expect(renderTitle(word, { path, modifiedMs }), word).toBe(value);
  });

  test('has every key of a sidecar, and no other', () => {
    expect(documented('Sidecars')).toEqual(SIDECAR_KEYS);
  });

  test('has a sidecar that is taken', () => {
    const [, yaml = ''] = /```yaml\n# clip\.yaml\n([^`]+)```/.exec(page) ?? [];
    expect(checkSidecar('clip.yaml', parse(yaml))).toMatchObject({ ok: true, sidecar: { channel: 'ch_news' } });
  });
});

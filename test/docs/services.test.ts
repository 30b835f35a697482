import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test('docs/services.md names a test that exists for each way of upload addresses', async () => {
  const page = await readFile(join(root, 'docs/services.md'), 'utf8');
  const section = page.split(/^## /m).find((text) => text.startsWith('Addresses and sessions\n')) ?? '';
  const rows = section.match(/^\| (?!the upload host|---).*$/gm) ?? [];
  const named = rows.map((row) => /'([^|]+)' \|$/.exec(row)?.[1] ?? row);
  const tests = (await readdir(join(root, 'test'), { recursive: true })).filter((name) => name.endsWith('.test.ts'));
  const texts = await Promise.all(tests.map((name) => readFile(join(root, 'test', name), 'utf8')));
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((name) => !texts.some((text) => text.includes(`'${name}'`)))).toEqual([]);
});

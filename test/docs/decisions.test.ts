import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const records = readdirSync(join(root, 'docs/decisions')).filter((name) => /^\d{4}-/.test(name));

test('the index names every decision once, by its number', () => {
  const listed = [...read('docs/decisions/README.md').matchAll(/^- \[(\d+)\]\(((\d{4})-[^)]+)\)/gm)];
  expect(listed.map(([, , name = '']) => name).toSorted()).toEqual(records.toSorted());
  for (const [, number, , digits] of listed) expect(Number(digits)).toBe(Number(number));
});

test.each(records)('%s begins with its number, and its links lead to files', (name) => {
  const text = read(`docs/decisions/${name}`);
  expect(text).toMatch(new RegExp(`^# ${Number(name.slice(0, 4))}\\. `));
  const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !existsSync(join(root, 'docs/decisions', link)))).toEqual([]);
});

test('every place that the glossary names exists', () => {
  const places = [...read('docs/glossary.md').matchAll(/\| `([^`]+)` \|$/gm)].map(([, place = '']) => place);
  expect(places.length).toBeGreaterThan(50);
  const exists = (place: string): boolean => existsSync(join(root, place)) || existsSync(join(root, 'src', place));
  expect(places.filter((place) => !exists(place))).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const text = readFileSync(join(import.meta.dirname, '../../CHANGELOG.md'), 'utf8');

test('each version in the changelog is one page', () => {
  const [, ...versions] = text.split(/^## /m);
  expect(versions.length).toBeGreaterThan(0);
  expect(versions.map((version) => version.trim().split('\n').length).filter((lines) => lines > 60)).toEqual([]);
});

test('the changelog says nothing twice', () => {
  const lines = text.split('\n').filter((line) => line.startsWith('- '));
  expect(lines.filter((line, at) => lines.indexOf(line) !== at)).toEqual([]);
});

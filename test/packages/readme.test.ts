import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { layouts } from '../../scripts/pack/layouts.ts';

const root = join(import.meta.dirname, '../..');

/** Fenced blocks and inline code. */
const code = /^```[^]*?^```$|`[^`\n]*`/gm;
const relativeLinks = /\]\((?!https:|#)[^)]*\)/g;

const own = layouts.flatMap(({ name, readme }) => (readme === null || name === 'dropcast' ? [] : [{ name, readme }]));

describe.each(own)('the README of $name', ({ readme }) => {
  const original = readFileSync(join(root, readme.from), 'utf8');
  const published = readme.edit(original);

  test('shows every piece of code as it was written', () => {
    expect(published.match(code)).toEqual(original.match(code));
  });

  test('links to nothing that the package does not have', () => {
    expect(published.replaceAll(code, '').match(relativeLinks)).toBeNull();
  });
});

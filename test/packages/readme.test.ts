import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { layouts } from '../../scripts/pack/layouts.ts';

const root = join(import.meta.dirname, '../..');

/** Fenced blocks and inline code. */
const code = /^```[^]*?^```$|`[^`\n]*`/gm;
const relativeLinks = /\]\((?!https:|#)[^)]*\)/g;

const own = layouts.flatMap(({ name, readme, pages = [] }) =>
  readme === null || name === 'dropcast' ? [] : [{ name, readme, pages }],
);

describe.each(own)('the README of $name', ({ readme, pages }) => {
  const original = readFileSync(join(root, readme.from), 'utf8');
  const published = readme.edit(original);

  test('shows every piece of code as it was written', () => {
    expect(published.match(code)).toEqual(original.match(code));
  });

  test('links to nothing that the package does not have', () => {
    const links = published.replaceAll(code, '').match(relativeLinks) ?? [];
    expect(links.filter((link) => !pages.some((page) => link === `](docs/${page})`))).toEqual([]);
  });
});

test('the README of the sandbox shows what the walk of docs/sandbox.md runs', () => {
  const readme = readFileSync(join(root, 'packages/sandbox/README.md'), 'utf8');
  const page = readFileSync(join(root, 'docs/sandbox.md'), 'utf8');
  const typescript = readme.match(/^```ts\n[^]*?^```$/gm) ?? [];
  expect(typescript).toHaveLength(2);
  for (const block of typescript) expect(page).toContain(block);
  expect(page).toContain(/sk_sandbox_\w+/.exec(readme)?.[0]);
});

import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { MAINTAINER } from '../../scripts/package/maintainer.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const forms = globSync('.github/ISSUE_TEMPLATE/!(config).yml', { cwd: root });

test.each(['SECURITY.md', 'CODE_OF_CONDUCT.md'])('%s has the address of the maintainer and no other', (page) => {
  const addresses = [...read(page).matchAll(/<([^>]+@[^>]+)>/g)].map(([, address]) => address);
  expect(addresses).toEqual([/<(.*)>/.exec(MAINTAINER)?.[1]]);
});

test('the issue forms have a name, a description, and fields with labels', () => {
  expect(forms).toHaveLength(3);
  for (const form of forms) {
    const { name, description, body } = parse(read(form)) as Readonly<Record<string, unknown>>;
    expect({ name, description }, form).toEqual({ name: expect.any(String), description: expect.any(String) });
    const fields = (body as readonly Field[]).filter(({ type }) => type !== 'markdown');
    expect(new Set(fields.map(({ id }) => id)).size, form).toBe(fields.length);
    for (const { type, attributes } of fields)
      expect({ type, label: attributes.label }, form).toEqual({
        type: expect.stringMatching(/^(input|textarea)$/),
        label: expect.any(String),
      });
  }
});

interface Field {
  readonly type: string;
  readonly id?: string;
  readonly attributes: { readonly label?: string };
}

test('every file that versions.md names exists', () => {
  const files = [...read('docs/versions.md').matchAll(/`(test\/[^`]+)`/g)].map(([, file = '']) => file);
  expect(files.length).toBeGreaterThan(3);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test.each(globSync(['*.md', 'docs/*.md'], { cwd: root }))('%s links to files that exist', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
});

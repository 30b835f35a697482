import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};
const pages = globSync(['*.md', '{docs,bench,contrib,packages,.github}/**/*.md'], { cwd: root }).filter(
  (page) => !page.includes('node_modules'),
);

/** npx runs the package that has the name on the registry, so a page names only ours, and tools that `npm ci` has installed. */
test.each(pages)('%s lets npm run or install no package that is not ours', (page) => {
  expect(strangers(readFileSync(join(root, page), 'utf8'))).toEqual([]);
});

test('a package that is not ours is noticed', () => {
  const text =
    'npx dropcast sandbox; npx -y other; npm install --save-exact left; `npm i @dropcast/client` npm install -g';
  expect(strangers(text)).toEqual(['dropcast', 'other', 'left']);
});

function strangers(text: string): readonly string[] {
  const calls = text.matchAll(/\b(?:npx|npm (?:exec|i|install|add))(?: +-[^\s`]+)* +([@\w][^\s`;,)]*)/g);
  return [...calls]
    .map(([, name = '']) => name)
    .filter((name) => !name.startsWith('@dropcast/') && !(name in own.devDependencies));
}

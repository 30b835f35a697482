import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** The test that proves each row of the section, in the order of its table. */
const proofs: readonly (readonly [row: string, name: string])[] = [
  [
    'refuses a file before its body',
    '%i instead of 100 Continue is its own error, and not a byte of the file was sent or committed',
  ],
  ['ignores `Expect`', 'is not awaited forever: a server that does not know 100 Continue still gets the body'],
  ['refuses `Expect` with 417 |', '417 makes it send once more without asking first'],
  ['refuses `Expect` with 417 after', '417 after bytes have left is in doubt, and nothing is sent again unasked'],
  ['gives addresses that expire', 'after it the video is marked to be replaced, on disk and in the receipts'],
  ['gives addresses for one `PUT`', 'and whose repetition is answered %i had arrived'],
  [
    'refuses every new address',
    'a host that refuses every new address costs a few requests an hour, however many files wait',
  ],
  ['redirects the `PUT`', '%i is never followed, and names only the origin it leads to'],
];

test('a test proves each way of upload addresses in docs/services.md', async () => {
  const page = await readFile(join(root, 'docs/services.md'), 'utf8');
  const section = page.split(/^## /m).find((text) => text.startsWith('Addresses and sessions\n')) ?? '';
  const rows = section.match(/^\| (?!the upload host|---).*$/gm) ?? [];
  expect(rows).toEqual(proofs.map(([row]) => expect.stringContaining(`| ${row}`)));
  const tests = (await readdir(join(root, 'test'), { recursive: true }))
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => name !== 'docs/services.test.ts');
  const texts = await Promise.all(tests.map((name) => readFile(join(root, 'test', name), 'utf8')));
  const names = proofs.map(([, name]) => name);
  expect(names.filter((name) => !texts.some((text) => text.includes(`'${name}'`)))).toEqual([]);
});

import { readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { pageToken, PageTokenError } from '../../../src/status/tokens.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

test('the token is made once, for its user alone, and stays', async () => {
  await using scratch = await scratchDirectory();
  const before = process.umask(0);
  const token = await pageToken(scratch.path).finally(() => process.umask(before));
  expect(token).toMatch(/^[\w-]{43}$/);
  expect((await stat(scratch.file('page-token'))).mode & 0o777).toBe(0o600);
  expect(await pageToken(scratch.path)).toBe(token);
  expect(await readFile(scratch.file('page-token'), 'utf8')).toBe(`${token}\n`);
  await using other = await scratchDirectory();
  expect(await pageToken(other.path)).not.toBe(token);
});

test('a start that a power cut interrupted leaves an empty file, and the next one writes it', async () => {
  await using scratch = await scratchDirectory();
  await writeFile(scratch.file('page-token'), '');
  expect(await pageToken(scratch.path)).toMatch(/^[\w-]{43}$/);
});

test.each(['short', 'two words that are long enough for a token', 'x'.repeat(300)])(
  'a file that contains %j is reported, and stays as it is',
  async (text) => {
    await using scratch = await scratchDirectory();
    await writeFile(scratch.file('page-token'), text);
    await expect(pageToken(scratch.path)).rejects.toThrow(PageTokenError);
    expect(await readFile(scratch.file('page-token'), 'utf8')).toBe(text);
  },
);

test('a link in its place is not followed', async () => {
  await using scratch = await scratchDirectory();
  await symlink(scratch.file('victim'), scratch.file('page-token'));
  await expect(pageToken(scratch.path)).rejects.toThrow('ELOOP');
});

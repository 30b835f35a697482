import { existsSync } from 'node:fs';
import { stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeStateDirectory } from '../../src/ledger/state-directory.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import { scratchDirectory } from './scratch.ts';

test('makes a private directory and those above it, and is content when it is there', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'a/b/c');
  await makeStateDirectory(path);
  await makeStateDirectory(path);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
});

test('fails where a file is in the way', async () => {
  await using scratch = await scratchDirectory();
  await writeFile(join(scratch.path, 'file'), '');
  await expect(makeStateDirectory(join(scratch.path, 'file/below'))).rejects.toThrow('ENOTDIR');
});

test('refuses what is there and is no directory, with the reason', async () => {
  await using scratch = await scratchDirectory();
  const file = join(scratch.path, 'file');
  await writeFile(file, '');
  const link = join(scratch.path, 'link');
  await symlink('gone', link);
  const refused = (path: string) => makeStateDirectory(path).catch((error: unknown) => error);
  for (const error of [await refused(file), await refused(link)]) expect(error).toBeInstanceOf(LedgerError);
  expect(String(await refused(file))).toMatch(/state directory \S+file is a regular file/);
  expect(String(await refused(link))).toMatch(/state directory \S+link is a symbolic link to gone/);
  expect(String(await refused(join(link, 'below')))).toMatch(/state directory \S+below cannot be created/);
});

test.skipIf(!existsSync('/proc'))('fails where nothing can be made, instead of trying for ever', async () => {
  await expect(makeStateDirectory('/proc/nope/below')).rejects.toThrow('cannot be created');
});

import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeStateDirectory } from '../../src/ledger/make-state-directory.ts';
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

test.skipIf(!existsSync('/proc'))('fails where nothing can be made, instead of trying for ever', async () => {
  await expect(makeStateDirectory('/proc/nope/below')).rejects.toThrow('cannot be made');
});

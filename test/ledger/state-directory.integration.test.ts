import { spawn } from 'node:child_process';
import { chown, stat, symlink, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeStateDirectory, sizeOfUsableFile } from '../../src/ledger/state-directory.ts';
import { LedgerError, refusal } from '../../src/ledger/ledger-error.ts';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

test('creates the directory and its parents, private; an existing one is fine', async () => {
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

test('refuses what exists and is not a directory, with the reason', async () => {
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

test('fails where nothing can be created, instead of trying forever', needs('/proc'), async () => {
  await expect(makeStateDirectory('/proc/nope/below')).rejects.toThrow('cannot be created');
});

test('a file that another process creates and removes all the time exists or not, and is never an error', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'ledger.db-wal');
  const script =
    'const fs = require("fs"); for (;;) { fs.writeFileSync(process.argv[1], ""); fs.rmSync(process.argv[1]); }';
  const other = spawn(process.execPath, ['-e', script, path]);
  try {
    const found = new Set<number | null>();
    for (let n = 0; n < 3_000 || found.size < 2; n += 1) {
      found.add(await sizeOfUsableFile(path));
    }
    expect(found).toEqual(new Set([0, null]));
  } finally {
    other.kill('SIGKILL');
  }
});

test(
  'for a file of another user in our own directory, the message has the command that repairs it',
  needs('root'),
  async () => {
    await using scratch = await scratchDirectory();
    const path = join(scratch.path, 'ledger.db');
    await writeFile(path, '');
    const refused = async (): Promise<string> => {
      const error = Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'access' });
      return (await refusal(path, error)).message;
    };
    const advice = `\`sudo chown -R ${userInfo().username}: ${scratch.path}\``;
    expect(await refused()).not.toContain('chown');
    await chown(path, 54_321, 54_321);
    expect(await refused()).toMatch(/ledger\.db belongs to user 54321 /);
    expect((await refused()).endsWith(advice)).toBe(true);
    // A directory of another user stays theirs.
    await chown(scratch.path, 54_321, 54_321);
    expect(await refused()).not.toContain('chown');
  },
);

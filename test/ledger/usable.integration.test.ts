import { spawn } from 'node:child_process';
import { chown, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusal } from '../../src/ledger/ledger-error.ts';
import { sizeOfUsableFile } from '../../src/ledger/state-directory.ts';
import { scratchDirectory } from './scratch.ts';

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

test.runIf(process.getuid?.() === 0)(
  'for a file of another user in our own directory, the message has the command that repairs it',
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

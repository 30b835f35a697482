import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sizeOfUsableFile } from '../../src/ledger/usable.ts';
import { scratchDirectory } from './scratch.ts';

test('a file that another process makes and removes all the time is there or not, and never a mistake', async () => {
  await using scratch = await scratchDirectory();
  const path = join(scratch.path, 'ledger.db-wal');
  const script =
    'const fs = require("fs"); for (;;) { fs.writeFileSync(process.argv[1], ""); fs.rmSync(process.argv[1]); }';
  const other = spawn(process.execPath, ['-e', script, path]);
  try {
    const found = new Set<number | null>();
    const end = performance.now() + 10_000;
    for (let n = 0; (n < 3_000 || found.size < 2) && performance.now() < end; n += 1) {
      found.add(await sizeOfUsableFile(path));
    }
    expect(found).toEqual(new Set([0, null]));
  } finally {
    other.kill('SIGKILL');
  }
});

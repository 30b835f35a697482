import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/ledger.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

test('copies are whole, at most four are kept, and nothing is copied while nothing was written', async () => {
  await using scratch = await scratchDirectory();
  await using ledger = await openLedger(scratch.path);
  const copies = join(scratch.path, 'backups');
  await ledger.backUp();
  await expect(readdir(copies)).rejects.toThrow('ENOENT');
  for (let n = 1; n <= 6; n += 1) {
    await ledger.insert(someFacts({ id: `f_${n}`, path: `${n}.mp4` }));
    await ledger.backUp();
    await ledger.backUp();
  }
  expect((await readdir(copies)).toSorted()).toEqual([1, 2, 3, 4].map((age) => `ledger.${age}.db`));
  expect(rowsOf(join(copies, 'ledger.1.db'))).toBe(6);
  expect(rowsOf(join(copies, 'ledger.4.db'))).toBe(3);
});

function rowsOf(path: string): unknown {
  using copy = new DatabaseSync(path, { readOnly: true });
  return copy.prepare('SELECT count(*) AS n FROM file').get()?.['n'];
}

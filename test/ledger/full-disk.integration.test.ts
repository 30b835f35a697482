import { readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openLedger } from '../../src/ledger/ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openDatabase } from '../../src/ledger/sqlite/open-database.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import { openReceipts } from '../../src/ledger/receipts.ts';
import { connectTo } from '../../src/ledger/sqlite/connection.ts';
import type { Receipts } from '../../src/pipeline/file/ports.ts';
import { created, someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { needs } from '../support/needs.ts';
import { smallDisk } from './small-disk.ts';

const full = { name: 'LedgerUnavailableError', reason: 'disk full', cause: { code: 'ERR_SQLITE_ERROR', errcode: 13 } };

test('a transaction that SQLite itself has rolled back fails with the reason, and the next one works', async () => {
  await using scratch = await scratchDirectory();
  const database = await openDatabase(join(scratch.path, 'ledger.db'));
  const { db } = connectTo(database);
  const insert = (note: string): Promise<unknown> =>
    db.transaction().execute(async (trx) => {
      await trx.insertInto('history').values({ file_id: 'f_1', at: 1, state: 'queued', note: 'small' }).execute();
      await trx.insertInto('history').values({ file_id: 'f_1', at: 2, state: 'queued', note }).execute();
    });
  // The same SQLITE_FULL as on a full disk.
  database.exec('PRAGMA max_page_count = 30');
  await expect(insert('x'.repeat(1_000_000))).rejects.toMatchObject(full);
  await insert('small');
  const rows = await db.selectFrom('history').select('note').execute();
  expect(rows.map(({ note }) => note)).toEqual(['small', 'small']);
  await db.destroy();
});

/** Inserts until nothing more goes in. Returns the ids that were acknowledged, and the error. */
async function fill(ledger: Ledger): Promise<{ readonly ids: readonly string[]; readonly error: unknown }> {
  const ids: string[] = [];
  for (;;) {
    const id = `f_${ids.length}`;
    try {
      await ledger.insert(someFacts({ id, path: `${id}.mp4` }));
      ids.push(id);
    } catch (error) {
      return { ids, error };
    }
  }
}

async function fillReceipts(receipts: Receipts): Promise<never> {
  for (;;) await receipts.append('bound', someFacts(created));
}

test(
  'on a full disk every write says so, nothing grows or stays half written, and work continues once there is room',
  needs('mount'),
  async () => {
    await using disk = await smallDisk('800k');
    const walSize = async (): Promise<number> => (await stat(join(disk.path, 'ledger.db-wal'))).size;
    let acknowledged: readonly string[];
    {
      await using ledger = await openLedger(disk.path);
      const { ids, error } = await fill(ledger);
      expect(error).toMatchObject({ ...full, message: expect.stringContaining(`the disk of ${disk.path} is full`) });
      acknowledged = ids;
      const first = await ledger.load('f_0');
      const before = await walSize();
      for (let n = 0; n < 50; n += 1) {
        await expect(ledger.insert(someFacts({ id: `more_${n}` }))).rejects.toMatchObject(full);
        await expect(ledger.save(first ?? someFacts(), 'x'.repeat(100_000))).rejects.toMatchObject(full);
      }
      expect(await walSize()).toBe(before);
      await expect(ledger.backUp()).rejects.toMatchObject(full);
      expect(await readdir(join(disk.path, 'backups'))).toEqual([]);
      await using receipts = await openReceipts(disk.path);
      await expect(fillReceipts(receipts)).rejects.toMatchObject({ ...full, cause: { code: 'ENOSPC' } });
      disk.remount('size=4m');
      await ledger.insert(someFacts({ id: 'after' }));
      await ledger.backUp();
      expect(await readdir(join(disk.path, 'backups'))).toEqual(['ledger.1.db']);
    }
    await using ledger = await openLedger(disk.path);
    expect((await ledger.rows({ group: 'any', limit: 10_000 })).map(({ id }) => id)).toEqual([
      ...acknowledged,
      'after',
    ]);
  },
);

test('a disk that is full or read-only is named when the ledger is opened', needs('mount'), async () => {
  await using disk = await smallDisk('800k');
  const stateDir = join(disk.path, 'state');
  {
    await using ledger = await openLedger(stateDir);
    await ledger.insert(someFacts());
  }
  await expect(writeFile(join(disk.path, 'fill'), Buffer.alloc(900_000))).rejects.toThrow('ENOSPC');
  const opened = (path: string) => openLedger(join(disk.path, path)).catch((error: unknown) => error);
  const fresh = await opened('fresh');
  expect(fresh).toBeInstanceOf(LedgerError);
  expect(String(fresh)).toMatch(/fresh\/ledger\.db .*the disk is full/);
  disk.remount('ro');
  for (const path of ['state', 'fresh', 'new']) {
    const error = await opened(path);
    expect(error, path).toBeInstanceOf(LedgerError);
    expect(String(error), path).toMatch(/state directory .*read-only \(EROFS\)/);
  }
});

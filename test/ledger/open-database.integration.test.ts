import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/ledger/sqlite/open-database.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

test('the settings that durability needs are in force', async () => {
  await using scratch = await scratchDirectory();
  const database = await openDatabase(join(scratch.path, 'ledger.db'));
  const pragma = (name: string): unknown => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  const names = ['locking_mode', 'journal_mode', 'synchronous', 'foreign_keys', 'wal_autocheckpoint'];
  expect(names.map(pragma)).toEqual(['exclusive', 'wal', 2, 1, 1000]);
  database.close();
});

test('every table is strict', async () => {
  await using scratch = await scratchDirectory();
  const database = await openDatabase(join(scratch.path, 'ledger.db'));
  const tables = database.prepare("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'").all();
  const own = tables.filter(({ name }) => !String(name).startsWith('sqlite_'));
  expect(new Set(own.map(({ name }) => name))).toEqual(
    new Set([
      'audit_finding',
      'audit_video',
      'budget',
      'create_request',
      'deletion',
      'event',
      'expected_file',
      'feed_due',
      'file',
      'first_start',
      'history',
      'identity',
      'listed_video',
      'listing',
      'news_memory',
      'outbox',
      'pause',
      'root',
    ]),
  );
  expect(own.every(({ strict }) => strict === 1)).toBe(true);
  database.close();
});

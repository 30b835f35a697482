import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/ledger/open-database.ts';
import { scratchDirectory } from './scratch.ts';

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
  expect(new Set(own.map(({ name }) => name))).toEqual(new Set(['budget', 'file', 'history']));
  expect(own.every(({ strict }) => strict === 1)).toBe(true);
  database.close();
});

test('the questions of every second use the small indexes', async () => {
  await using scratch = await scratchDirectory();
  const database = await openDatabase(join(scratch.path, 'ledger.db'));
  const plan = (query: string): string =>
    database
      .prepare(`EXPLAIN QUERY PLAN SELECT * FROM file WHERE ${query}`)
      .all()
      .map(({ detail }) => String(detail))
      .join('; ');
  expect(plan("disposal = 'pending' AND +state = 'done' ORDER BY seq")).toContain('file_disposal');
  expect(plan("+state = 'retrying' AND not_before <= 5 ORDER BY not_before")).toContain('file_retrying');
  expect(plan("amendment IS NOT NULL AND +state IN ('done') ORDER BY seq")).toContain('file_amendment');
  database.close();
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { ChannelStore } from '../../../packages/sandbox/src/store/channels.ts';
import { copyDatabase, openDatabase } from '../../../packages/sandbox/src/store/database.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dropcast-copy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function cacheSizeOf(database: DatabaseSync): unknown {
  return database.prepare('PRAGMA cache_size').get()?.cache_size;
}

test('a copy has the rows, and the cache of its source is as large as before', () => {
  using database = openDatabase(':memory:');
  new ChannelStore(database).add({ id: 'ch', name: 'News', slug: 'news', createdAtMs: 0 });
  const before = cacheSizeOf(database);
  const path = join(temporaryFolder(), 'copy');

  copyDatabase(database, path);

  using copy = new DatabaseSync(path);
  expect(copy.prepare('SELECT id, name FROM channels').all()).toEqual([{ id: 'ch', name: 'News' }]);
  expect(cacheSizeOf(database)).toBe(before);
});

test('the cache is as large as before after a copy that cannot be written', () => {
  using database = openDatabase(':memory:');
  const before = cacheSizeOf(database);

  expect(() => copyDatabase(database, join(temporaryFolder(), 'missing', 'copy'))).toThrow('unable to open database');

  expect(cacheSizeOf(database)).toBe(before);
});

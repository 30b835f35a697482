import { expect, test } from 'vitest';
import { toApiError } from '../../../packages/sandbox/src/http/api-error.ts';
import { inTransaction, openDatabase } from '../../../packages/sandbox/src/store/database.ts';
import { storageTroubleOf } from '../../../packages/sandbox/src/store/storage-trouble.ts';

/** A database that cannot grow. */
function fullDatabase() {
  const database = openDatabase(':memory:');
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number };
  database.exec(`PRAGMA max_page_count = ${pages}`);
  const fill = () =>
    database.prepare(`INSERT INTO channels VALUES (1, 'ch', ?, 'c', NULL, '{}', 0)`).run('x'.repeat(100_000));
  return { database, fill };
}

function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

test('a full database is reported, and its transaction is over', () => {
  const { database, fill } = fullDatabase();
  const error = errorOf(() => inTransaction(database, fill));
  expect(storageTroubleOf(error)).toEqual({ isFull: true, what: 'SQLite: database or disk is full' });
  expect(toApiError(error)).toMatchObject({ status: 507, message: 'The sandbox has no disk space left.' });
  expect(inTransaction(database, () => database.prepare('SELECT COUNT(*) AS n FROM channels').get())).toEqual({ n: 0 });
});

test('a transaction that SQLite rolled back keeps its error', () => {
  const { database } = fullDatabase();
  const gaveUp = errorOf(() =>
    inTransaction(database, () => {
      database.exec('ROLLBACK');
      throw new Error('the real reason');
    }),
  );
  expect(gaveUp).toMatchObject({ message: 'the real reason' });
});

test('a transaction within another is a part of it', () => {
  const database = openDatabase(':memory:');
  const add = (id: string) =>
    database.prepare(`INSERT INTO channels VALUES (NULL, ?, 'C', ?, NULL, '{}', 0)`).run(id, id);
  const gaveUp = errorOf(() =>
    inTransaction(database, () => {
      inTransaction(database, () => add('inner'));
      add('outer');
      throw new Error('no');
    }),
  );
  expect(gaveUp).toMatchObject({ message: 'no' });
  expect(database.prepare('SELECT id FROM channels').all()).toEqual([]);
});

test.each(['EROFS', 'ENOENT', 'EIO', 'EACCES'])('%s is about the data folder, and says no path', (code) => {
  const error = Object.assign(new Error(`${code}: open '/home/ann/data/media/vid_1'`), { code });
  const { status, message } = toApiError(error);
  expect([status, message]).toEqual([500, `The sandbox cannot use its data folder (${code}).`]);
});

test.each([new Error('x'), Object.assign(new Error('x'), { code: 'ECONNRESET' }), 'text', undefined])(
  '%s is not about storage',
  (error) => {
    expect(storageTroubleOf(error)).toBeUndefined();
    expect(toApiError(error).code).toBe('server_error');
  },
);

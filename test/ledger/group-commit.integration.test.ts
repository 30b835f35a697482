import { expect, test, vi } from 'vitest';
import { connectTo } from '../../src/ledger/sqlite/connection.ts';
import { portsOf } from '../../src/ledger/ports-of.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { openDatabase } from '../../src/ledger/sqlite/open-database.ts';
import type { DropcastEvent } from '../../src/pipeline/events.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { StaleRowError } from '../../src/pipeline/file/ports.ts';
import { createRows } from '../../src/pipeline/file/rows.ts';
import { LedgerUnavailableError } from '../../src/pipeline/file/store-errors.ts';
import { created, someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

/** A ledger with some files, and a count of its commits from then on. */
async function openStore(files = 0) {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const connection = connectTo(await openDatabase(scratch.file('ledger.db')));
  const { database, db, sql } = connection;
  stack.defer(() => db.destroy());
  const store = portsOf(connection);
  const rows = Array.from({ length: files }, (_, n) => someFacts({ id: `f_${n}`, path: `${n}.mp4` }));
  for (const facts of rows) await store.insert(facts);
  const transactions = vi.spyOn(sql, 'transaction');
  const parts = stack.move();
  return { database, sql, store, rows, transactions, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const statuses = (results: readonly PromiseSettledResult<unknown>[]): string[] => results.map(({ status }) => status);

test('what many files learn in one turn is one transaction', async () => {
  await using opened = await openStore(20);
  const { store, rows, transactions } = opened;
  const saved = await Promise.all(rows.map((facts) => store.save({ ...facts, ...created })));
  expect(transactions).toHaveBeenCalledTimes(1);
  expect(await store.rows({ group: 'in state', state: 'awaiting upload', limit: 100 })).toEqual(saved);
  expect(saved.map(({ rev }) => rev)).toEqual(rows.map(() => 1));
});

test('writes are done and answered in the order of the calls, those of other turns too', async () => {
  await using opened = await openStore();
  const { database, store } = opened;
  const answered: string[] = [];
  const insert = async (id: string): Promise<void> => {
    await store.insert(someFacts({ id, path: id }));
    answered.push(id);
  };
  // More than one transaction takes.
  const ids = Array.from({ length: 1_200 }, (_, n) => `f_${n}`);
  const first = ids.slice(0, 1_100).map(insert);
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([...first, ...ids.slice(1_100).map(insert)]);
  expect(answered).toEqual(ids);
  expect(
    database
      .prepare('SELECT id FROM file ORDER BY seq')
      .all()
      .map(({ id }) => id),
  ).toEqual(ids);
});

test('a second write of a row in the same turn is refused, and the others are not', async () => {
  await using opened = await openStore(3);
  const { store, rows } = opened;
  const [one, two, three] = rows as [Facts, Facts, Facts];
  const results = await Promise.allSettled([
    store.save({ ...one, why: 'first' }),
    store.save({ ...two, why: 'first' }),
    store.save({ ...one, why: 'second' }),
    store.save({ ...three, rev: 7 }),
    store.insert(someFacts({ id: 'f_new', path: 'new.mp4' })),
    store.insert(someFacts({ id: two.id, path: 'has its id.mp4' })),
  ]);
  expect(statuses(results)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected', 'fulfilled', 'rejected']);
  expect(results[2]).toMatchObject({ reason: expect.any(StaleRowError) as unknown });
  expect(await store.load(one.id)).toMatchObject({ rev: 1, why: 'first' });
  expect(await store.load(two.id)).toMatchObject({ rev: 1, why: 'first' });
  expect(await store.load(three.id)).toEqual(three);
  expect(await store.load('f_new')).not.toBeNull();
});

test('a write that the disk has no room for does not affect the others', async () => {
  await using opened = await openStore(3);
  const { database, store, rows } = opened;
  const [one, two, three] = rows as [Facts, Facts, Facts];
  // The same SQLITE_FULL as on a full disk: SQLite itself rolls back.
  database.exec('PRAGMA max_page_count = 60');
  const results = await Promise.allSettled([
    store.save({ ...one, why: 'small' }, 'a note'),
    store.save({ ...two, why: 'large' }, 'x'.repeat(1_000_000)),
    store.save({ ...three, why: 'small' }, 'a note'),
  ]);
  expect(statuses(results)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(results[1]).toMatchObject({ reason: { name: 'LedgerUnavailableError', reason: 'disk full' } });
  expect((await store.rows({ group: 'in state', state: 'queued', limit: 10 })).map(({ why }) => why)).toEqual([
    'small',
    null,
    'small',
  ]);
});

test('no caller learns of a write before it is on disk', async () => {
  await using opened = await openStore(2);
  const { sql, store, rows } = opened;
  const told: DropcastEvent[] = [];
  const writers = createRows({
    store: { ...store, claim: async (id) => claimOf(rows.find((facts) => facts.id === id)) },
    events: { emit: (event) => void told.push(event) },
  });
  const seen: string[] = [];
  const write = (id: string) =>
    writers.claim(id, (row) => row.write(created).then(() => seen.push(id))).catch((error: unknown) => error);
  // The disk fails with the very last call.
  const run = vi.spyOn(sql, 'transaction').mockImplementation((work) => {
    sql.run('BEGIN');
    work();
    expect([told, seen]).toEqual([[], []]);
    sql.run('ROLLBACK');
    throw new LedgerUnavailableError('disk failing');
  });
  expect(await Promise.all(['f_0', 'f_1'].map(write))).toEqual([
    expect.any(LedgerUnavailableError),
    expect.any(LedgerUnavailableError),
  ]);
  expect([told, seen]).toEqual([[], []]);
  run.mockRestore();
  await Promise.all(['f_0', 'f_1'].map(write));
  expect(seen).toEqual(['f_0', 'f_1']);
  expect(told.map((event) => event.type === 'file' && event.facts.id)).toEqual(['f_0', 'f_1']);
});

function claimOf(facts: Facts | undefined) {
  if (facts === undefined) return null;
  return {
    facts,
    lost: new AbortController().signal,
    renew: async () => true,
    sends: () => undefined,
    release: async () => undefined,
  };
}

test('a write touches only the columns that changed, and its checksum is that of the whole row', async () => {
  await using opened = await openStore(1);
  const { sql, store, rows } = opened;
  const texts = vi.spyOn(sql, 'rows');
  const [facts] = rows as [Facts];
  const saved = await store.save({ ...facts, sha256: 'abc' });
  const updates = texts.mock.calls.map(([text]) => text).filter((text) => text.startsWith('UPDATE file'));
  expect(updates).toEqual(['UPDATE file SET "rev" = ?, "sha256" = ?, "checksum" = ? WHERE seq = ?']);
  // Reading a row checks its checksum.
  expect(await store.load(facts.id)).toEqual(saved);
});

test('a ledger that is closed while writes wait writes them first', async () => {
  await using scratch = await scratchDirectory();
  const ids = Array.from({ length: 1_200 }, (_, n) => `f_${n}`);
  const ledger = await openLedger(scratch.path);
  const written = Promise.allSettled(ids.map((id) => ledger.insert(someFacts({ id, path: id }))));
  await ledger[Symbol.asyncDispose]();
  expect(new Set(statuses(await written))).toEqual(new Set(['fulfilled']));
  await using again = await openLedger(scratch.path);
  expect(await again.count({ states: ['queued'] })).toBe(ids.length);
});

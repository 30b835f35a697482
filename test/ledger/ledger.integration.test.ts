import { execFileSync } from 'node:child_process';
import { mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { KnownFile } from '../../src/ledger/view.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { StaleRowError } from '../../src/pipeline/file/ports.ts';
import { created, ready, someFacts, somePlan, someVersion, uploaded } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { storeContract } from './store-contract.ts';

async function openScratch(): Promise<AsyncDisposable & { readonly store: Ledger; readonly stateDir: string }> {
  await using stack = new AsyncDisposableStack();
  const { path: stateDir } = stack.use(await scratchDirectory());
  const store = stack.use(await openLedger(stateDir));
  const parts = stack.move();
  return { store, stateDir, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const named = (id: string, other: Partial<Facts> = {}): Facts => someFacts({ id, path: `${id}.mp4`, ...other });

storeContract(openScratch);

test('opening makes a line for each create request without an answer, as in a ledger of the first schema, and drops any other', async () => {
  await using opened = await openScratch();
  const { store, stateDir } = opened;
  await store.insert(named('a', { suspects: ['t1', 't2'], discoveredAt: 7 }));
  await store.insert(named('b', { intent: 't3', discoveredAt: 8, plan: null }));
  await store[Symbol.asyncDispose]();
  const database = new DatabaseSync(join(stateDir, 'ledger.db'));
  database.exec("DELETE FROM create_request; INSERT INTO create_request VALUES ('t9', 'a', 'Clip', 9)");
  database.close();
  await using reopened = await openLedger(stateDir);
  expect(await reopened.unanswered()).toEqual([
    { token: 't1', fileId: 'a', title: 'Clip', at: 7 },
    { token: 't2', fileId: 'a', title: 'Clip', at: 7 },
    { token: 't3', fileId: 'b', title: 'b.mp4', at: 8 },
  ]);
});

test('a ledger that takes the place of a lost one keeps its id, so that the folders stay its own where the machine has no id', async () => {
  await using scratch = await scratchDirectory();
  const first = await openLedger(scratch.path);
  await first[Symbol.asyncDispose]();
  for (const name of ['ledger.db', 'ledger.db-wal', 'receipts.jsonl']) await rm(scratch.file(name), { force: true });
  await using second = await openLedger(scratch.path);
  expect(second.id).toBe(first.id);
});

describe('what people ask for', () => {
  test('history tells every change of state, and every note', async () => {
    await using opened = await openScratch();
    const { store } = opened;
    await store.insert(someFacts());
    const first = await store.save(someFacts({ ...created }), 'video vid_1');
    const second = await store.save({ ...first, uploadStartedAt: 5 });
    const third = await store.save({ ...second, suspects: ['a'] }, 'only a note');
    await store.save({ ...third, ...uploaded });
    expect((await store.history('f_1')).map(({ state, note }) => [state, note])).toEqual([
      ['queued', 'complete'],
      ['awaiting upload', 'video vid_1'],
      ['awaiting upload', 'only a note'],
      ['processing', null],
    ]);
    expect(await store.history('f_2')).toEqual([]);
  });

  test('a write that was refused leaves no line of history', async () => {
    await using opened = await openScratch();
    await opened.store.insert(someFacts());
    await expect(opened.store.save(someFacts({ rev: 3 }), 'stale')).rejects.toThrow(StaleRowError);
    expect(await opened.store.history('f_1')).toHaveLength(1);
  });

  test('files are found by id, by its beginning, by video, by path and by file name', async () => {
    await using opened = await openScratch();
    const { store } = opened;
    await store.insert(named('f_abc1'));
    await store.insert(named('f_abc2', { ...created, videoId: 'vid_9' }));
    await store.insert(named('f_xyz', { path: 'sub/f_abc1.mp4' }));
    await store.insert(named('f_new', { path: 'f_abc1.mp4' }));
    const find = async (name: string): Promise<string[]> => (await store.find(name)).map(({ id }) => id);
    expect(await find('f_abc1')).toEqual(['f_abc1']);
    expect(await find('f_ab')).toEqual(['f_abc1', 'f_abc2']);
    expect(await find('f_a')).toEqual([]);
    expect(await find('vid_9')).toEqual(['f_abc2']);
    expect(await find('/inbox/f_abc1.mp4')).toEqual(['f_new']);
    expect(await find('/inbox/sub/f_abc1.mp4')).toEqual(['f_xyz']);
    // The newest of each path is meant, and never the tail of another name.
    expect(await find('f_abc1.mp4')).toEqual(['f_xyz', 'f_new']);
    expect(await find('bc1.mp4')).toEqual([]);
    expect(await find("f_'; DROP TABLE file; --")).toEqual([]);
    expect(await find('f_%%')).toEqual([]);
  });

  test('a file that was moved is found by the path where it lay, too', async () => {
    await using opened = await openScratch();
    const { store } = opened;
    const moved = (id: string, path: string): Facts => named(id, { path, disposal: 'moved' });
    const find = async (name: string): Promise<string[]> => (await store.find(name)).map(({ id }) => id);
    await store.insert(moved('f_one', 'done/clip [1].mp4'));
    await store.insert(named('f_else', { path: 'other/clip [1].mp4' }));
    expect(await find('/inbox/clip [1].mp4')).toEqual(['f_one']);
    await store.insert(moved('f_two', 'done/clip [1] (2).mp4'));
    expect(await find('/inbox/clip [1].mp4')).toEqual(['f_two', 'f_one']);
    await store.insert(named('f_new', { path: 'clip [1].mp4' }));
    expect(await find('/inbox/clip [1].mp4')).toEqual(['f_new']);
    for (const name of ['/elsewhere/clip [1].mp4', '/inbox/lip [1].mp4', '/inbox/clip 1.mp4', '/inbox/*', '/inbox/'])
      expect(await find(name)).toEqual([]);
  });

  test('counts, lists and suspects', async () => {
    await using opened = await openScratch();
    const { store } = opened;
    for (const facts of [named('a', { suspects: ['1', '2'] }), named('b', uploaded), named('c', { suspects: ['3'] })])
      await store.insert(facts);
    expect(await store.totals('by state')).toEqual({ queued: 2, processing: 1 });
    const ids = (rows: readonly Facts[]): string[] => rows.map(({ id }) => id);
    expect(ids(await store.rows({ group: 'any', limit: 9 }))).toEqual(['a', 'b', 'c']);
    expect(ids(await store.rows({ group: 'any', limit: 2, newestFirst: true }))).toEqual(['c', 'b']);
    expect(ids(await store.rows({ group: 'any', where: { states: ['queued'] }, limit: 9 }))).toEqual(['a', 'c']);
    expect((await store.unanswered()).map(({ token }) => token)).toEqual(['1', '2', '3']);
  });

  test('the watcher is not offered again what is known and still there', async () => {
    await using opened = await openScratch();
    const { store } = opened;
    const finished = { ...ready, end: 'done', published: { feed_news: 1 } } as const;
    const rows = [
      named('queued'),
      named('failed', { end: 'failed' }),
      named('kept', { ...finished, disposal: 'kept' }),
      named('moved', { ...finished, disposal: 'moved' }),
      named('deleted', { ...finished, disposal: 'deleted' }),
      named('vanished', { end: 'vanished' }),
      named('superseded', { end: 'superseded' }),
      named('elsewhere', { folder: '/other' }),
    ];
    for (const facts of rows) await store.insert(facts);
    const known: KnownFile[] = [];
    await store.known('/inbox', (file) => known.push(file));
    expect(known.map(({ path, state }) => `${path} ${state}`)).toEqual([
      'failed.mp4 failed',
      'kept.mp4 done',
      'moved.mp4 done',
      'queued.mp4 queued',
    ]);
    expect(known[0]?.version).toEqual(someVersion);
  });

  test('what a watcher knows already comes in pages, with the newest row of a path last', async () => {
    await using opened = await openScratch();
    const rows = Array.from({ length: 2_500 }, (_, n) => named(`${n % 1_250}`, { id: `f_${n}` }));
    await Promise.all(rows.map((facts) => opened.store.insert({ ...facts, version: { ...someVersion, size: 1 } })));
    await opened.store.insert(named('1', { id: 'newest' }));
    const sizes = new Map<string, number>();
    let told = 0;
    await opened.store.known('/inbox', ({ path, version }) => {
      told += 1;
      sizes.set(path, version.size);
    });
    expect([told, sizes.size, sizes.get('1.mp4')]).toEqual([2_501, 1_250, someVersion.size]);
  });

  test('the budget is what was saved last', async () => {
    await using opened = await openScratch();
    expect(await opened.store.budget.load()).toBeNull();
    await opened.store.budget.save({ total: 1 });
    await opened.store.budget.save({ total: 2, spent: [1, 2] });
    expect(await opened.store.budget.load()).toEqual({ total: 2, spent: [1, 2] });
  });
});

describe('a burst of new files', () => {
  test('is written in few transactions, all of it', async () => {
    await using opened = await openScratch();
    const rows = Array.from({ length: 1_234 }, (_, n) => named(`f_${n}`));
    await Promise.all(rows.map((facts) => opened.store.insert(facts)));
    expect(await opened.store.count({ states: ['queued'] })).toBe(1_234);
    expect((await opened.store.rows({ group: 'in state', state: 'queued', limit: 3 })).map(({ id }) => id)).toEqual([
      'f_0',
      'f_1',
      'f_2',
    ]);
  });

  test('an id that is taken is refused', async () => {
    await using opened = await openScratch();
    await opened.store.insert(someFacts());
    await expect(opened.store.insert(someFacts())).rejects.toThrow('UNIQUE');
  });

  test('writes in a row let the event loop turn', async () => {
    await using opened = await openScratch();
    const { store } = opened;
    let facts = someFacts();
    await store.insert(facts);
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    for (let n = 0; n < 100; n += 1) facts = await store.save(facts);
    clearImmediate(next);
    expect(turns).toBeGreaterThan(50);
  });
});

describe('claims of a process', () => {
  test('end with it: a closed ledger renews nothing, releases harmlessly, and the next one grants the file', async () => {
    await using scratch = await scratchDirectory();
    const first = await openLedger(scratch.path);
    await first.insert(someFacts());
    const claim = await first.claim('f_1');
    await first[Symbol.asyncDispose]();
    expect(await claim?.renew()).toBe(false);
    await claim?.release();
    await expect(first.claim('f_1')).rejects.toThrow();
    await using second = await openLedger(scratch.path);
    expect((await second.claim('f_1'))?.facts).toEqual(someFacts());
  });
});

test('the files before others in line are those of their queue, and not counted without end', async () => {
  await using opened = await openScratch();
  const high = { plan: { ...somePlan, priority: 'high' as const } };
  const rows = [{}, {}, high, {}, { folder: '/other' }, { end: 'done' as const }, {}];
  for (const [n, other] of rows.entries())
    await opened.store.insert(someFacts({ id: `f_${n}`, path: `${n}`, ...other }));
  const asked = ['f_0', 'f_2', 'f_3', 'f_4', 'f_5', 'f_6'];
  expect(await opened.store.before(asked, 9, [])).toEqual(
    new Map([
      ['f_0', 0],
      ['f_2', 0],
      ['f_3', 2],
      ['f_4', 0],
      ['f_6', 3],
    ]),
  );
  const due = (afterMs: number): Partial<Facts> => ({ plan: { ...somePlan, readyBy: { afterMs } } });
  for (const [n, other] of [due(30), due(10), due(20)].entries())
    await opened.store.insert(someFacts({ id: `due_${n}`, path: `due_${n}`, ...other }));
  expect(await opened.store.before(['due_0', 'due_1', 'due_2', 'f_6'], 9, [])).toEqual(
    new Map([
      ['due_0', 2],
      ['due_1', 0],
      ['due_2', 1],
      ['f_6', 3],
    ]),
  );
  expect(await opened.store.before(['f_6'], 2, [])).toEqual(new Map([['f_6', 2]]));
  expect(await opened.store.before(['f_6'], 9, ['f_0', 'f_2', 'f_3'])).toEqual(new Map([['f_6', 1]]));
});

test('the queues of waiting files are reported with their files and bytes', async () => {
  await using opened = await openScratch();
  const big = { version: { ...someVersion, size: 300 * 1024 ** 2 } };
  const high = { plan: { ...somePlan, priority: 'high' as const } };
  const rows = [{}, {}, high, big, { folder: '/other' }, { end: 'done' as const }, created, {}, { firstAt: 1 }];
  for (const [n, other] of rows.entries())
    await opened.store.insert(someFacts({ id: `f_${n}`, path: `${n}`, ...other }));
  const { folder } = someFacts();
  const { size } = someVersion;
  const usual = { state: 'queued', priority: 'normal', isBig: false, isUrgent: false, folder, files: 1, bytes: size };
  expect(new Set(await opened.store.lines(['f_7']))).toEqual(
    new Set([
      { ...usual, files: 2, bytes: 2 * size },
      { ...usual, priority: 'high' },
      { ...usual, isBig: true, bytes: 300 * 1024 ** 2 },
      { ...usual, folder: '/other' },
      { ...usual, state: 'awaiting upload' },
      { ...usual, isUrgent: true },
    ]),
  );
});

describe('the file on disk', () => {
  test('is private, and so are its log and its directory', async () => {
    await using scratch = await scratchDirectory();
    const stateDir = join(scratch.path, 'state');
    const before = process.umask(0);
    try {
      await using store = await openLedger(stateDir);
      await store.insert(someFacts());
      const modes = await Promise.all(
        ['', 'ledger.db', 'ledger.db-wal'].map(async (name) => (await stat(join(stateDir, name))).mode & 0o777),
      );
      expect(modes).toEqual([0o700, 0o600, 0o600]);
    } finally {
      process.umask(before);
    }
  });

  test('holds what was written when it is opened again', async () => {
    await using scratch = await scratchDirectory();
    {
      await using store = await openLedger(scratch.path);
      await store.insert(someFacts(created));
    }
    await using store = await openLedger(scratch.path);
    expect(await store.load('f_1')).toEqual(someFacts(created));
  });

  test('takes no row of an unknown state and no text for a number', async () => {
    await using scratch = await scratchDirectory();
    {
      await using store = await openLedger(scratch.path);
      await store.insert(someFacts());
    }
    const database = new DatabaseSync(join(scratch.path, 'ledger.db'));
    expect(() => database.exec("UPDATE file SET state = 'flying'")).toThrow('CHECK');
    expect(() => database.exec("UPDATE file SET attempts = 'many'")).toThrow('cannot store TEXT');
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 });
    expect(database.prepare('PRAGMA application_id').get()).toEqual({ application_id: 0x64726f70 });
    database.close();
  });
});

describe('a file that is not a ledger', () => {
  const refused = async (prepare: (path: string) => Promise<void> | void): Promise<unknown> => {
    await using scratch = await scratchDirectory();
    await prepare(join(scratch.path, 'ledger.db'));
    return await openLedger(scratch.path).then(
      () => 'it was opened',
      (error: unknown) => error,
    );
  };
  const withSql = (sql: string) => (path: string) => {
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
  };

  test.each([
    ['garbage', (path: string) => writeFile(path, 'this is not a database, by any means'.repeat(100)), /damaged/],
    ['a newer schema', withSql('PRAGMA application_id = 1685221232; PRAGMA user_version = 99'), /schema 99\b.* 1\b/],
    ['another program with a version', withSql('CREATE TABLE t (a); PRAGMA user_version = 1'), /another program/],
    ['another program without a version', withSql('CREATE TABLE t (a)'), /another program/],
    [
      'another program with our version',
      withSql('PRAGMA application_id = 7; PRAGMA user_version = 1'),
      /another program/,
    ],
    ['a directory', (path: string) => mkdir(path), /is a directory/],
    ['a named pipe', (path: string) => void execFileSync('mkfifo', [path]), /is a named pipe/],
    ['a link that leads nowhere', (path: string) => symlink('nowhere', path), /is a symbolic link to nowhere/],
    ['zeros', (path: string) => writeFile(path, Buffer.alloc(16_384)), /damaged/],
  ])('is refused: %s', async (_name, prepare, message) => {
    const error = await refused(prepare);
    expect(error).toBeInstanceOf(LedgerError);
    expect(String(error)).toMatch(message);
  });

  test('stays as it was', async () => {
    await using scratch = await scratchDirectory();
    const path = join(scratch.path, 'ledger.db');
    withSql('CREATE TABLE t (a)')(path);
    await expect(openLedger(scratch.path)).rejects.toThrow(LedgerError);
    const database = new DatabaseSync(path);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' });
    expect(database.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 't' }]);
    database.close();
  });

  test('an empty file is a new ledger', async () => {
    await using scratch = await scratchDirectory();
    await writeFile(join(scratch.path, 'ledger.db'), '');
    await using store = await openLedger(scratch.path);
    expect(await store.totals('by state')).toEqual({});
  });
});

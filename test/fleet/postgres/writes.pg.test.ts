import { appendFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { openReceipts } from '../../../src/ledger/receipts.ts';
import type { Ask, PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import { AlreadyKnownError, StaleRowError } from '../../../src/pipeline/file/ports.ts';
import { LostClaimError } from '../../../src/pipeline/file/rows.ts';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../../src/pipeline/file/store-errors.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { created, someFacts, somePlan, someVersion } from '../../pipeline/some-facts.ts';
import { openPool } from '../../../src/fleet/postgres/pool.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { freshDatabase, postgresServer } from '../../support/postgres/server.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { openAlone, openHost } from './sharing-host.ts';

const named = (id: string, other: Partial<Facts> = {}): Facts => someFacts({ id, path: `${id}.mp4`, ...other });
const outcomes = (results: readonly PromiseSettledResult<unknown>[]): string[] =>
  results.map((result) => (result.status === 'fulfilled' ? 'done' : (result.reason as Error).name));

describe('writes of one host', () => {
  test('that come together are refused one by one, and keep their order', async () => {
    await using opened = await openAlone();
    const { store } = opened;
    const inserts = Array.from({ length: 5 }, (_, n) => store.insert(named(`f_${n}`)));
    const results = await Promise.allSettled([
      ...inserts,
      store.save(named('f_1', { why: 'one' })),
      store.save(named('f_1', { why: 'stale' })),
      store.save(named('nobody')),
      store.save(named('f_1', { why: 'two', rev: 1 })),
    ]);
    expect(outcomes(results)).toEqual([
      ...Array<string>(5).fill('done'),
      'done',
      'StaleRowError',
      'StaleRowError',
      'done',
    ]);
    expect(await store.load('f_1')).toMatchObject({ why: 'two', rev: 2 });
  });

  test('notify the others once for each transaction, with the name of the host', async () => {
    await using opened = await openAlone({ hostName: 'ingest7' });
    const heard: string[] = [];
    using listening = opened.pool.listen('dropcast', (payload) => heard.push(payload));
    await until('it listens', () => heard.length > 0 && listening !== null);
    await Promise.all([opened.store.insert(named('a')), opened.store.insert(named('b'))]);
    await until('it hears', () => heard.includes('ingest7'));
    expect(heard.filter((payload) => payload !== '')).toEqual(['ingest7']);
  });

  test('name it in their rows', async () => {
    await using one = await openAlone({ hostName: 'ingest1' });
    await using two = await openHost(one.url, { hostName: 'ingest2' });
    await one.store.insert(named('a'));
    await one.store.insert(named('b'));
    await two.store.save({ ...named('b'), ...created });
    expect(await one.store.hostsOf(['a', 'b', 'c'])).toEqual(
      new Map([
        ['a', 'ingest1'],
        ['b', 'ingest2'],
      ]),
    );
  });

  test('keep a character that PostgreSQL cannot keep as its replacement', async () => {
    await using opened = await openAlone();
    const { store } = opened;
    const plan = { ...somePlan, title: 'a\0b' };
    await store.insert(named('a', { plan, why: 'c\0d \uD800' }));
    expect(await store.load('a')).toMatchObject({ plan: { title: 'a\uFFFDb' }, why: 'c\uFFFDd \uFFFD' });
    const saved = await store.save({ ...named('a'), plan, why: '\0' }, 'note \0');
    expect(saved).toEqual(await store.load('a'));
    await store.roots.save('/\0', { a: '\0' });
    await store.savePause({ folder: null, since: 1, until: null, by: '\0' }, null);
  });
});

describe('writes of two hosts', () => {
  test('to one row upon the same revision: one is refused, in whatever order their statements meet', async () => {
    await using one = await openAlone();
    await using two = await openHost(one.url, { hostName: 'ingest2' });
    for (let n = 0; n < 30; n += 1) {
      const row = named(`f_${n}`);
      await one.store.insert(row);
      const writes = [one, two, one, two].map(({ store }, by) => store.save({ ...row, why: `by ${by}` }));
      const results = outcomes(await Promise.allSettled(writes));
      expect(results.toSorted()).toEqual(['StaleRowError', 'StaleRowError', 'StaleRowError', 'done']);
      expect(await two.store.load(row.id)).toMatchObject({ rev: 1, why: `by ${results.indexOf('done')}` });
    }
  });

  test('that add the same version of a file: one is added; another version, and one after a superseded row, are', async () => {
    await using one = await openAlone();
    await using two = await openHost(one.url, { hostName: 'ingest2' });
    const paths = Array.from({ length: 40 }, (_, n) => `${n}.mp4`);
    const results: string[] = [];
    for (const path of paths) {
      const inserts = [one, two].map(({ store }, n) => store.insert(someFacts({ id: `${path} ${n}`, path })));
      results.push(...outcomes(await Promise.allSettled(inserts)));
    }
    expect(results.filter((result) => result === 'done')).toHaveLength(paths.length);
    expect(results.filter((result) => result === AlreadyKnownError.name)).toHaveLength(paths.length);
    await two.store.insert(someFacts({ id: 'newer', path: '1.mp4', version: { ...someVersion, mtimeNs: '9' } }));
    await one.store.insert(named('old', { end: 'superseded' }));
    await two.store.insert(someFacts({ id: 'again', path: 'old.mp4' }));
  });

  test('that found other content in a file that looks the same: one row is added in addition to the old one', async () => {
    await using one = await openAlone();
    await using two = await openHost(one.url, { hostName: 'ingest2' });
    const [old, path] = [named('old', { end: 'done' }), 'old.mp4'];
    await one.store.insert({ ...old, path });
    await expect(two.store.insert(someFacts({ id: 'unread', path }))).rejects.toBeInstanceOf(AlreadyKnownError);
    const inserts = [one, two].map(({ store }, n) => store.insert(someFacts({ id: `new ${n}`, path }), old.id));
    const results = outcomes(await Promise.allSettled(inserts));
    expect(results.toSorted()).toEqual([AlreadyKnownError.name, 'done']);
  });

  test('get the numbers of their history lines in the order in which they can be seen: who reads on misses none', async () => {
    await using one = await openAlone();
    await using two = await openHost(one.url, { hostName: 'ingest2' });
    const hosts = [one, two];
    let isOver = false;
    const seen = new Set<number>();
    const reading = (async () => {
      for (let last = 0; ;) {
        const wasOver = isOver;
        const rows = await two.pool.rows<{ seq: number }>('SELECT seq FROM history WHERE seq > $1 ORDER BY seq', [
          last,
        ]);
        for (const { seq } of rows) seen.add(seq);
        last = rows.at(-1)?.seq ?? last;
        if (wasOver && rows.length === 0) return;
      }
    })();
    const write = async (n: number): Promise<void> => {
      for (let k = 0; k < 25; k += 1) {
        const { store } = hosts[n % 2] ?? one;
        await store.insert(named(`${n} ${k}`));
        await store.save(named(`${n} ${k}`), 'note');
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, n) => write(n)));
    isOver = true;
    await reading;
    expect(seen.size).toBe(8 * 25 * 2);
  });
});

describe('the fence', () => {
  test('keeps a host that lost its lease from writing anything', async () => {
    let holds: 'yes' | 'no' = 'yes';
    const fence = (ids: readonly string[]) => ({
      text: 'SELECT value AS id FROM jsonb_array_elements_text(?::jsonb) AS held',
      values: [JSON.stringify(holds === 'yes' ? ids : [])],
    });
    await using opened = await openAlone({ fence });
    const { store } = opened;
    await store.insert(named('a'));
    await store.insert(named('b'));
    const first = await store.save({ ...named('a'), ...created });
    holds = 'no';
    await expect(store.save({ ...first, why: 'late' }, 'late')).rejects.toThrow(LostClaimError);
    expect(await store.load('a')).toEqual(first);
    expect(await opened.pool.rows("SELECT 1 FROM history WHERE note = 'late'")).toEqual([]);
  });
});

/** The connection ends before the statement with this number, or in its COMMIT. */
function cutBefore(pool: PostgresPool, other: PostgresPool, cut: { at: number; seen: number }): PostgresPool {
  return {
    rows: pool.rows,
    listen: (...args) => pool.listen(...args),
    awaySince: () => pool.awaySince(),
    whyAway: () => pool.whyAway(),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
    transaction: (work, kind) =>
      pool.transaction(async (ask) => {
        const end = async (): Promise<void> => {
          cut.seen += 1;
          if (cut.seen - 1 !== cut.at) return;
          const [own] = await ask<{ pid: number }>('SELECT pg_backend_pid() AS pid');
          await other.rows('SELECT pg_terminate_backend($1, 5000)', [own?.pid]);
        };
        const cutting: Ask = async (...args) => {
          await end();
          return ask(...args);
        };
        const result = await work(cutting);
        await end();
        return result;
      }, kind),
  };
}

test('a connection that is cut between any two statements of a write leaves all of it or nothing', async () => {
  const cut = { at: -1, seen: 0 };
  const fence = (ids: readonly string[]) => ({ text: 'SELECT ? AS id', values: ids });
  await using other = await openAlone();
  await using opened = await openHost(other.url, { fence }, (pool) => cutBefore(pool, other.pool, cut));
  const { store } = opened;
  const { pool } = other;
  const told: string[] = [];
  for (let at = 0; ; at += 1) {
    const row = named(`f_${at}`);
    await other.store.insert(row);
    await until('there is a connection', () => store.load('f_0').catch(() => null));
    Object.assign(cut, { at, seen: 0 });
    const result = await store
      .save({ ...row, intent: `t_${at}`, why: 'written' }, 'written')
      .catch((error: unknown) => error);
    const statements = cut.seen;
    Object.assign(cut, { at: -1 });
    const found = await other.store.load(row.id);
    const lines = await pool.rows("SELECT 1 FROM history WHERE file_id = $1 AND note = 'written'", [row.id]);
    const requests = await pool.rows('SELECT 1 FROM create_request WHERE token = $1', [`t_${at}`]);
    if (at === statements) {
      expect(result).toEqual(found);
      break;
    }
    told.push(
      result instanceof OutcomeUnknownError ? 'unknown' : result instanceof LedgerUnavailableError ? 'away' : 'other',
    );
    expect([found, lines, requests]).toEqual([row, [], []]);
  }
  // Also when it is cut in the COMMIT: the server says that it did not come to that.
  expect(told).toEqual(Array<string>(told.length).fill('away'));
  expect(told.length).toBeGreaterThan(5);
});

test('a receipt of this host becomes a row under the name that the fleet has for its folder', async () => {
  await using scratch = await scratchDirectory();
  const stateDir = scratch.path;
  await using receipts = await openReceipts(stateDir);
  await receipts.append('bound', { ...named('a', { folder: '/mnt/nas/in' }), ...created });
  const placed = (facts: Facts): Facts => ({ ...facts, folder: facts.folder.replace('/mnt/nas', 'nas1:') });
  await using opened = await openAlone({ stateDir, placed });
  expect(await opened.store.load('a')).toMatchObject({ folder: 'nas1:/in', videoId: 'vid_1' });
});

interface OlderDatabase extends AsyncDisposable {
  /** From now on the address leads to the older one. */
  takeOver(): Promise<void>;
}

/** The database as it is now, to go on with later, as after a standby without the last writes has taken over. */
async function olderOf(name: string): Promise<OlderDatabase> {
  const server = await openPool(placeAt(postgresServer().url), { hostName: 'admin' });
  const older = `${name}_older`;
  await server.rows(`CREATE DATABASE ${older} TEMPLATE ${name}`);
  return {
    takeOver: async () => {
      await server.rows(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await server.rows('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [name]);
      await server.rows(`DROP DATABASE ${name} WITH (FORCE)`);
      await server.rows(`ALTER DATABASE ${older} RENAME TO ${name}`);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Notifications do not come through. */
const deaf = (pool: PostgresPool): PostgresPool => ({
  rows: pool.rows,
  transaction: (...args) => pool.transaction(...args),
  awaySince: () => pool.awaySince(),
  whyAway: () => pool.whyAway(),
  listen: () => ({ [Symbol.dispose]: () => undefined }),
  [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
});

describe('after the database lost the last writes', () => {
  test('nothing is written before the rows say what the receipts of this host say', async () => {
    await using fresh = await freshDatabase();
    await using scratch = await scratchDirectory();
    const stateDir = scratch.path;
    {
      await using before = await openHost(fresh.url, { stateDir });
      await before.store.insert(named('a'));
      await before.store.insert(named('b'));
    }
    await using older = await olderOf(fresh.name);
    await using opened = await openHost(fresh.url, { stateDir });
    const { store } = opened;
    await using receipts = await openReceipts(stateDir);
    const intended = await store.save({ ...named('a'), intent: 't' });
    const bound = { ...intended, ...created, intent: null };
    await receipts.append('bound', bound);
    await store.save(bound);
    await older.takeOver();
    const write = async (): Promise<unknown> => {
      try {
        return await store.save({ ...named('a'), intent: 'another' });
      } catch (error) {
        if (error instanceof LedgerUnavailableError) return null;
        return error;
      }
    };
    let result: unknown = null;
    await until('the database is back', async () => (result = await write()) !== null);
    expect(result).toBeInstanceOf(StaleRowError);
    expect(await store.load('a')).toMatchObject({ videoId: 'vid_1', uploadStartedAt: expect.any(Number) as number });
    expect(await store.load('b')).toEqual(named('b'));
    expect(await store.unanswered()).toEqual([]);
  });

  test('a host that writes nothing and hears nothing brings in its receipts as well, and says what it could not read of them', async () => {
    await using fresh = await freshDatabase();
    await using scratch = await scratchDirectory();
    const stateDir = scratch.path;
    const repaired: string[] = [];
    const settles: string[] = [];
    const told = {
      repaired: (what: string) => void repaired.push(what),
      settles: (why: string) => void settles.push(why),
    };
    {
      await using before = await openHost(fresh.url, { stateDir });
      await before.store.insert(named('a'));
    }
    await using older = await olderOf(fresh.name);
    await using opened = await openHost(fresh.url, { stateDir, ...told }, deaf);
    const { store } = opened;
    await using receipts = await openReceipts(stateDir);
    await receipts.append('bound', { ...named('a'), ...created });
    await store.save({ ...named('a'), ...created });
    await appendFile(scratch.file('receipts.jsonl'), 'edited\n');
    await older.takeOver();
    await until('it has looked', () => repaired.length > 0);
    expect([...settles, ...repaired]).toEqual([
      'the database now runs on another server, or from a backup, and may lack the last writes: no new work starts for 20 s, while each host adds its receipts',
      'receipts.jsonl: 1 line is not a receipt and was skipped',
    ]);
    expect(store.repairs).toEqual([]);
  });
});

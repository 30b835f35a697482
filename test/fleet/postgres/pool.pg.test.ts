import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LedgerError } from '../../../src/ledger/ledger-error.ts';
import { openPool } from '../../../src/fleet/postgres/pool.ts';
import type { PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import type { PostgresPlace } from '../../../src/fleet/postgres/client-config.ts';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../../src/pipeline/file/store-errors.ts';
import { needs } from '../../support/needs.ts';
import { startCluster } from '../../support/postgres/cluster.ts';
import type { Cluster } from '../../support/postgres/cluster.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { freshDatabase } from '../../support/postgres/server.ts';
import { listen } from '../../support/server.ts';
import { until } from '../../support/until.ts';

const hostName = 'ingest1';
const short = { connectMs: 1_000, statementMs: 1_000, answerMs: 1_500 };

/** Errors that nobody handles end a daemon. */
const unhandled: unknown[] = [];
const note = (error: unknown): void => void unhandled.push(error);
process.on('uncaughtException', note).on('unhandledRejection', note);
afterAll(() => {
  process.off('uncaughtException', note).off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

describe('statements', () => {
  test('have their values, and numbers are numbers', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName });
    const text = 'select $1::int8 as big, 7::numeric as sum, count(*) as n, $2::text as word, null::int8 as nothing';
    expect(await pool.rows(text, [2 ** 52, 'a'])).toEqual([{ big: 2 ** 52, sum: 7, n: 1, word: 'a', nothing: null }]);
    expect(
      await pool.rows(
        "select application_name as who, current_setting('TimeZone') as zone from pg_stat_activity where pid = pg_backend_pid()",
      ),
    ).toEqual([{ who: 'dropcast ingest1', zone: 'UTC' }]);
  });

  test('that are prepared keep working when a newer member adds a column, on every connection and in a transaction', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName });
    await pool.rows('create table kept (id int)');
    const everywhere = <T>(ask: () => Promise<T>): Promise<readonly T[]> => Promise.all([1, 2, 3, 4].map(ask));
    const alone = (): Promise<unknown> => pool.rows('select *, pg_sleep($1)::text as s from kept', [0.2]);
    const together = (): Promise<unknown> =>
      pool.transaction(async (ask) => {
        await ask('insert into kept (id) values (1)');
        return ask('select * from kept limit $1', [1]);
      });
    // Prepared at the second use.
    for (const ask of [alone, alone, together, together]) await everywhere<unknown>(ask);
    await pool.rows('alter table kept add column later text');
    expect(await alone()).toHaveLength(8);
    expect(await together()).toEqual([{ id: 1, later: null }]);
    await everywhere(alone);
    await everywhere(together);
    expect(await pool.rows('select count(*) as n from kept')).toEqual([{ n: 13 }]);
    expect(pool.awaySince()).toBeNull();
  });

  test('go over at most four connections, and the fifth listens', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName });
    using _ = pool.listen('dropcast', () => {});
    const mine = `select count(*) as n from pg_stat_activity where datname = '${database.name}'`;
    await until('it listens', async () => (await pool.rows<{ n: number }>(mine))[0]?.n === 2);
    await Promise.all(Array.from({ length: 20 }, () => pool.rows('select pg_sleep(0.01)')));
    expect(await pool.rows(mine)).toEqual([{ n: 5 }]);
  });

  test('of a transaction are done together, or not at all when the work throws', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName });
    await pool.rows('create table t (a int primary key)');
    expect(await pool.transaction((ask) => ask('insert into t values (1) returning a'))).toEqual([{ a: 1 }]);
    const lost = new Error('lost claim');
    const work = pool.transaction(async (ask) => {
      await ask('insert into t values (2)');
      throw lost;
    });
    await expect(work).rejects.toBe(lost);
    await expect(pool.transaction((ask) => ask('insert into t values (1)'))).rejects.toThrow('duplicate key');
    expect(await pool.rows('select a from t')).toEqual([{ a: 1 }]);
  });

  test('that begin a transaction of their own and fail leave no connection in it', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName });
    await expect(pool.rows('BEGIN; CREATE TABLE t (a int); SELECT 1 / 0; COMMIT;')).rejects.toThrow('division by zero');
    expect(await pool.rows("SELECT to_regclass('t') AS made")).toEqual([{ made: null }]);
  });

  test('of a transaction that continued after one of them failed never count as written', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName });
    await pool.rows('create table t (a int primary key)');
    const work = pool.transaction(async (ask) => {
      await ask('insert into t values (1)');
      await ask('select 1 / 0').catch(() => {});
    });
    await expect(work).rejects.toThrow('nothing of it was written');
    expect(await pool.rows('select a from t')).toEqual([]);
  });

  test('of a host that sleeps in the middle of them are undone by the server, so that its locks block no other host', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName });
    const [limit] = await pool.rows("select current_setting('idle_in_transaction_session_timeout') as is");
    expect(limit).toEqual({ is: '10s' });
  });

  test('that only read are of one moment, and change nothing', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName });
    await pool.rows('create table t (a int)');
    const seen = await pool.transaction(async (ask) => {
      const before = await ask('select a from t');
      await pool.rows('insert into t values (1)');
      return [before, await ask('select a from t')];
    }, 'read');
    expect(seen).toEqual([[], []]);
    await expect(pool.transaction((ask) => ask('insert into t values (2)'), 'read')).rejects.toMatchObject({
      reason: 'read-only',
    });
  });

  test('that take too long are ended by the server, and the connection is used again', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName, limits: { statementMs: 50 } });
    await expect(pool.rows('select pg_sleep(60)')).rejects.toMatchObject({ reason: 'busy' });
    await expect(pool.transaction((ask) => ask('select pg_sleep(60)'))).rejects.toMatchObject({ reason: 'busy' });
    expect(await pool.rows('select 1 as a')).toEqual([{ a: 1 }]);
    expect(pool.awaySince()).toBeNull();
  });

  test('of a table that the user may not use say what to grant', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName });
    await pool.rows('create table t (a int)');
    const refused = pool.transaction(async (ask) => {
      await ask('create role nobody_here');
      await ask('set local role nobody_here');
      await ask('select a from t');
    });
    await expect(refused).rejects.toThrow(
      /PostgreSQL at \S+: the user "\w+" may not do this: permission denied for table t/,
    );
  });
});

describe('at the start, one sentence says what is wrong:', needs('postgres'), () => {
  const refusal = async (place: PostgresPlace): Promise<string> => {
    const error = await openPool(place, { hostName, limits: short }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LedgerError);
    return error instanceof Error ? error.message : '';
  };

  test('password, certificate, database, name, encryption', async () => {
    await using cluster = await startCluster({ tls: true, password: true });
    await using other = await startCluster({ tls: true });
    const [ca, otherCa] = await Promise.all([cluster, other].map(({ ca }) => readFile(ca, 'utf8')));
    const right = placeAt(cluster.url, { tls: true, ca: ca ?? '' });
    await using pool = await openPool(right, { hostName });
    expect(await pool.rows('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).toEqual([{ ssl: true }]);

    const at = `the ledger cannot be opened: PostgreSQL at 127.0.0.1:${cluster.port}: `;
    expect(await refusal({ ...right, password: { reveal: () => 'wrong' } })).toBe(
      `${at}it refuses the password of the user "postgres"; check ledger.password`,
    );
    expect(await refusal({ ...right, password: null })).toBe(
      `${at}it asks for a password for the user "postgres"; set ledger.password`,
    );
    expect(await refusal({ ...right, ca: otherCa ?? '' })).toMatch(
      /its certificate is not signed by a trusted authority/,
    );
    expect(await refusal({ ...right, ca: null })).toMatch(/its certificate is not signed by a trusted authority/);
    expect(await refusal({ ...right, host: '127.0.0.2' })).toMatch(/ECONNREFUSED|its certificate is not for 127.0.0.2/);
    expect(await refusal({ ...right, database: 'missing' })).toBe(
      `${at}it has no database "missing"; create it, or correct ledger (docs/fleet.md)`,
    );
    expect(await refusal({ ...right, tls: false })).toMatch(
      /it rejects the connection: no pg_hba.conf entry .* no encryption/,
    );
    expect(await refusal({ ...right, host: 'db.invalid' })).toMatch(/PostgreSQL at db\.invalid:\d+: the name/);
    expect(await refusal({ ...right, host: '/nowhere' })).toMatch(/there is no socket in \/nowhere/);
    await cluster.stop();
    expect(await refusal(right)).toBe(`${at}connection refused (ECONNREFUSED)`);
  });

  test('a server without TLS', async () => {
    await using cluster = await startCluster();
    expect(await refusal(placeAt(cluster.url, { tls: true }))).toMatch(/it offers no TLS/);
  });

  test('a pooler, which refuses the settings of our sessions', async () => {
    const words = 'SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0';
    const refused = Buffer.concat([Buffer.from('E'), Buffer.from([0, 0, 0, words.length + 4]), Buffer.from(words)]);
    await using server = await listen(createServer((socket) => socket.once('data', () => socket.end(refused))));
    expect(await refusal(placeAt(`postgres://dropcast@127.0.0.1:${server.port}/ledger`))).toBe(
      `the ledger cannot be opened: PostgreSQL at 127.0.0.1:${server.port}: unsupported startup parameter: statement_timeout, as poolers say: ledger must name PostgreSQL itself`,
    );
  });

  test('something that takes connections and never answers', async () => {
    await using server = await listen(createServer());
    const place = placeAt(`postgres://dropcast@127.0.0.1:${server.port}/ledger`);
    expect(await refusal(place)).toMatch(/no answer in time/);
    expect(await refusal({ ...place, tls: true })).toMatch(/no answer in time/);
  });
});

describe('a server that goes away', needs('postgres'), () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
    return async () => await cluster[Symbol.asyncDispose]();
  });

  test.for(['fast', 'immediate'] as const)(
    'and comes back is used again, and in between every message says since when: %s',
    async (how) => {
      await using pool = await open(cluster);
      const before = Date.now();
      await cluster.stop(how);
      await expect(pool.rows('select 1')).rejects.toThrow(
        /^PostgreSQL at 127.0.0.1:\d+ has not answered since \d\d:\d\d: /,
      );
      await expect(pool.transaction((ask) => ask('select 1'))).rejects.toMatchObject({
        name: 'LedgerUnavailableError',
        reason: 'away',
      });
      const since = pool.awaySince() ?? 0;
      expect(since).toBeGreaterThanOrEqual(before);
      await until('it says since when', async () => {
        const error = await pool.rows('select 1').catch((thrown: unknown) => thrown);
        return (
          error instanceof LedgerUnavailableError && error.since === since && error.message.includes('ECONNREFUSED')
        );
      });
      await cluster.start();
      expect(await until('it answers again', () => pool.rows('select 1 as a'))).toEqual([{ a: 1 }]);
      expect(pool.awaySince()).toBeNull();
    },
  );

  test('in the middle of a transaction leaves nothing of it', async () => {
    await using pool = await open(cluster);
    await pool.rows('create table once (a int)');
    const work = pool.transaction(async (ask) => {
      await ask('insert into once values (1)');
      await cluster.stop('immediate');
      await cluster.start();
      await ask('insert into once values (2)');
    });
    const error = await work.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ reason: 'away' });
    expect(error).not.toBeInstanceOf(OutcomeUnknownError);
    expect(await until('it answers again', () => pool.rows('select a from once'))).toEqual([]);
  });

  /** A deferred trigger makes COMMIT itself take long. */
  test.for(['stopped', 'frozen'] as const)(
    'in the middle of COMMIT leaves it open whether all was written: %s',
    async (how) => {
      await using pool = await open(cluster);
      await pool.rows(`
      drop table if exists t;
      create table t (a int);
      create or replace function slow() returns trigger language plpgsql as 'begin perform pg_sleep(0.5); return null; end';
      create constraint trigger slowly after insert on t deferrable initially deferred for each row execute function slow();
    `);
      const work = pool.transaction((ask) => ask('insert into t values (1)')).catch((thrown: unknown) => thrown);
      const isCommitting = `select 1 from pg_stat_activity where query = 'commit' and state = 'active'`;
      await until('it commits', async () => (await pool.rows(isCommitting)).length === 1);
      if (how === 'stopped') await cluster.stop('immediate');
      else cluster.freeze();
      const error = await work;
      expect(error).toBeInstanceOf(OutcomeUnknownError);
      expect(error).toMatchObject({
        reason: 'away',
        message: expect.stringContaining('it may have done so') as string,
      });
      if (how === 'frozen') cluster.thaw();
      else await cluster.start();
    },
  );

  test('without a word, its connections open: every call ends by its time, and works again afterwards', async () => {
    await using pool = await open(cluster);
    await Promise.all(Array.from({ length: 8 }, () => pool.rows('select pg_sleep(0.01)')));
    cluster.freeze();
    const calls = [
      ...Array.from({ length: 8 }, () => pool.rows('select 1')),
      pool.transaction((ask) => ask('select 1')),
    ];
    for (const result of await Promise.allSettled(calls))
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'LedgerUnavailableError' } });
    expect(pool.awaySince()).not.toBeNull();
    cluster.thaw();
    expect(await until('it answers again', () => pool.rows('select 1 as a'))).toEqual([{ a: 1 }]);
  });

  test('without a word does not keep a pool from closing', async () => {
    const pool = await open(cluster);
    using _ = pool.listen('dropcast', () => {});
    const call = pool.rows('select pg_sleep(60)').catch((thrown: unknown) => thrown);
    cluster.freeze();
    await pool[Symbol.asyncDispose]();
    expect(await call).toBeInstanceOf(LedgerUnavailableError);
    cluster.thaw();
  });

  test('for a standby: it takes no changes until it is promoted', async () => {
    await using cluster = await startCluster({ standby: true });
    const { standby } = cluster;
    if (standby === null) throw new Error('there is none');
    await using pool = await open(standby);
    await expect(pool.rows('create table t (a int)')).rejects.toThrow(
      /it is a standby or read-only.*ledger must name the primary/,
    );
    await standby.promote();
    await until('it is the primary', async () => {
      await pool.rows('create table if not exists t (a int)');
      return true;
    });
  });
});

describe('notifications', () => {
  test('are heard until the end of the block', async () => {
    await using database = await freshDatabase();
    await using pool = await openPool(placeAt(database.url), { hostName });
    const heard: string[] = [];
    {
      using _ = pool.listen('dropcast', (payload) => heard.push(payload));
      await until('it listens', () => heard.length === 1);
      await pool.rows(`select pg_notify('dropcast', 'one')`);
      await until('it was heard', () => heard.at(-1) === 'one');
    }
    await pool.rows(`select pg_notify('dropcast', 'two')`);
    using _ = pool.listen('other', (payload) => heard.push(payload));
    await until('the other one listens', async () => {
      await pool.rows(`select pg_notify('other', 'three')`);
      return heard.at(-1) === 'three';
    });
    expect(heard.filter(Boolean)).not.toContain('two');
  });

  test(
    'are received again after the server was away, and possibly missed ones are reported',
    needs('postgres'),
    async () => {
      await using cluster = await startCluster();
      await using pool = await open(cluster);
      const heard: string[] = [];
      using _ = pool.listen('dropcast', (payload) => heard.push(payload));
      await until('it listens', () => heard.length === 1);
      await cluster.stop('immediate');
      await cluster.start();
      await until('it listens again', () => heard.length === 2);
      await until('it answers', () => pool.rows(`select pg_notify('dropcast', 'again')`));
      await until('it was heard', () => heard.at(-1) === 'again');
    },
  );
});

function open(cluster: Cluster): Promise<PostgresPool> {
  return openPool(placeAt(cluster.url), { hostName, limits: short });
}

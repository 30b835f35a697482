import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import { createGate } from '../../../src/host/gate.ts';
import type { Ask } from '../../../src/fleet/host-table.ts';
import { emptyWindow } from '../../../src/host/budget-window.ts';
import { budgetTable, sharedBudget } from '../../../src/fleet/shared-budget.ts';
import { Random } from '../../reliability/simulation/machine/random.ts';
import { needs } from '../../support/needs.ts';
import { startCluster } from '../../support/postgres/cluster.ts';
import { freshDatabase } from '../../support/postgres/server.ts';
import { until } from '../../support/until.ts';
import { Hammer } from './hammer.ts';
import type { Order } from './hammer.ts';
import { fullestHour } from './rolling-hours.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 10, 20, 12, 0, 10);

const table = `CREATE SCHEMA dropcast; ${budgetTable}`;

/** The clock of the database is a row that the test sets. */
const fakeClock = `
  CREATE SCHEMA fake;
  CREATE TABLE fake.clock (now timestamptz NOT NULL);
  INSERT INTO fake.clock VALUES (to_timestamp(${start} / 1000.0));
  CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS 'SELECT now FROM fake.clock'`;

/** A host, in this process or in another. */
interface Host extends AsyncDisposable {
  obey(order: Order): Promise<number>;
}

function hostInProcess(url: string, limit: number): Host {
  const path = join(import.meta.dirname, 'hammer-process.ts');
  const child = fork(path, [url, `${limit}`], { execArgv: ['--conditions=source'] });
  return {
    obey: async (order) => {
      child.send(order);
      const [answer] = (await once(child, 'message')) as [number];
      return answer;
    },
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Hosts and a database of which the clocks go on together, when the test says so. */
async function openFleet(limit: number, open: (url: string, limit: number) => Host, count: number) {
  const database = await freshDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`${table};${fakeClock}`);
  const hosts = Array.from({ length: count }, () => open(database.url, limit));
  const sent: number[] = [];
  let passed = 0;
  return {
    sent,
    hosts,
    pass: async (ms: number): Promise<void> => {
      passed += ms;
      await Promise.all(hosts.map((host) => host.obey({ what: 'clock', elapsedMs: passed })));
      await client.query('UPDATE fake.clock SET now = to_timestamp($1 / 1000.0)', [start + passed]);
    },
    /** All at once, each as many as it is told. @returns how many of each left */
    send: async (orders: readonly number[]): Promise<readonly number[]> => {
      const answers = await Promise.all(
        hosts.map((host, n) => host.obey({ what: 'send', priority: 'finish', requests: orders[n] ?? 0 })),
      );
      for (const answer of answers) sent.push(...Array.from({ length: answer }, () => passed));
      return answers;
    },
    [Symbol.asyncDispose]: async () => {
      for (const host of hosts) await host[Symbol.asyncDispose]();
      await client.end();
      await database[Symbol.asyncDispose]();
    },
  };
}

describe.each([
  ['4 gates in a process', (url: string, limit: number): Host => new Hammer(url, limit), 4],
  ['3 processes', hostInProcess, 3],
])('%s with one budget', (_name, open, count) => {
  test('together send the limit in the fullest rolling hour, whatever each requests', async () => {
    await using fleet = await openFleet(20, open, count);
    const random = new Random(count);
    for (let at = 0; at < 5 * hour;) {
      await fleet.send(Array.from({ length: count }, () => random.below(12)));
      const ms = 1_000 + random.below(10 * 60_000);
      await fleet.pass(ms);
      at += ms;
    }
    expect(fullestHour(fleet.sent)).toBe(20);
    expect(fleet.sent.length).toBeGreaterThan(90);
  });

  test('are all paused by a 429 that one of them gets while the others send', async () => {
    await using fleet = await openFleet(40, open, count);
    const [one] = fleet.hosts;
    const others = Array.from({ length: count }, (_, n) => (n === 0 ? 0 : 5));
    await one?.obey({ what: 'throttled', retryAfterMs: 90_000 });
    const sent = await fleet.send(others);
    await until('the block is stored', async () => (await fleet.send(others.map(() => 1))).every((n) => n === 0));
    await fleet.pass(89_000);
    expect(await fleet.send(others)).toEqual(others.map(() => 0));
    await fleet.pass(1_000);
    // One goes alone.
    expect((await fleet.send(others)).reduce((sum, each) => sum + each, 0)).toBe(1);
    expect(Math.max(...sent)).toBeLessThanOrEqual(5);
  });
});

test('a window that was decided in a minute that is over is not stored', async () => {
  await using database = await freshDatabase();
  await using host = new Asking(database.url);
  await host.ask(`${table};${fakeClock}`, []);
  const store = sharedBudget(host.ask, () => 0);
  const from = await store.load();
  const used = { ...emptyWindow, minutes: [[Math.floor(start / 60_000), 1] as const], total: 1 };
  await host.ask('UPDATE fake.clock SET now = now + $1::interval', ['50 seconds']);
  expect(await store.swap(from, used)).toMatchObject({
    isOurs: false,
    stored: { revision: 0, window: { minutes: [] } },
  });
  await host.ask('UPDATE fake.clock SET now = now - $1::interval', ['50 seconds']);
  await store.load();
  expect(await store.swap(from, used)).toMatchObject({ isOurs: true, stored: { revision: 1, window: used } });
});

test('a host learns of a block from PostgreSQL', async () => {
  await using database = await freshDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(table);
  const heard: (string | undefined)[] = [];
  client.on('notification', ({ payload }) => heard.push(payload));
  await client.query('LISTEN dropcast');
  {
    await using host = realHost(database.url);
    await host.gate.take('create');
    await client.query('SELECT 1');
    expect(heard).toEqual([]);
    host.gate.throttled(60_000);
    await until('it was told', () => heard.length > 0);
  }
  await client.query('SELECT 1');
  expect(heard).toEqual([':budget']);
  await client.end();
});

describe('a PostgreSQL', needs('postgres'), () => {
  test('that is away lets nothing leave; then all continue, and nothing that left is forgotten', async () => {
    await using cluster = await startCluster();
    const client = new Client({ connectionString: cluster.url });
    await client.connect();
    await client.query(table);
    await client.end();
    await using one = realHost(cluster.url);
    await using other = realHost(cluster.url);
    await Promise.all([one.gate.take('finish'), other.gate.take('finish')]);
    await cluster.stop('immediate');
    for (const { gate } of [one, other]) await expect(gate.take('finish')).rejects.toThrow();
    await cluster.start();
    for (const { gate } of [one, other]) await gate.take('finish');
    one.gate.changedElsewhere();
    await until('all four count', () => one.gate.snapshot().used === 4);
    expect(one.gate.snapshot().total).toBe(4);
  });
});

/** One connection, which sees the clock that the test sets. */
class Asking implements AsyncDisposable {
  readonly #pool: Pool;

  constructor(url: string) {
    this.#pool = new Pool({ connectionString: url, max: 1, options: '-c search_path=fake,pg_catalog' });
    this.#pool.on('error', () => undefined);
  }

  readonly ask: Ask = async (text, values) =>
    (await this.#pool.query<Record<string, unknown>>(text, values.length === 0 ? undefined : [...values])).rows;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }
}

/** With the clocks as they are. */
function realHost(url: string) {
  const pool = new Pool({ connectionString: url, max: 1 });
  pool.on('error', () => undefined);
  const ask = async (text: string, values: readonly unknown[]) =>
    (await pool.query<Record<string, unknown>>(text, [...values])).rows;
  const clock = { now: () => Date.now(), elapsed: () => performance.now() };
  const gate = createGate({ store: sharedBudget(ask, clock.elapsed), limit: 100, clock });
  return {
    gate,
    [Symbol.asyncDispose]: async () => {
      await gate[Symbol.asyncDispose]();
      await pool.end();
    },
  };
}

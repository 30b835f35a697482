import { Client } from 'pg';
import { openJobQueue } from '../../src/fleet/job-queue.ts';
import type { JobQueue } from '../../src/fleet/job-queue.ts';
import { createLeases } from '../../src/fleet/leases.ts';
import type { Leases } from '../../src/fleet/leases.ts';
import { serverTable } from '../../src/fleet/postgres/outcome.ts';
import { lockTable } from '../../src/fleet/postgres/statement.ts';
import { openPool } from '../../src/fleet/postgres/pool.ts';
import type { PostgresPool } from '../../src/fleet/postgres/pool.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { placeAt } from '../support/postgres/place.ts';
import { freshDatabase } from '../support/postgres/server.ts';

/** A host of a fleet, as far as its leases go. */
export interface LeaseHolder extends AsyncDisposable {
  readonly pool: PostgresPool;
  readonly queue: JobQueue;
  readonly leases: Leases;
  /** Statements that it asked since the start. */
  statements(): number;
}

export interface LeaseFleet extends AsyncDisposable {
  readonly url: string;
  /** Statements of somebody who is no member. */
  ask(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  join(name: string, queue?: 'file' | 'turn'): Promise<LeaseHolder>;
}

/** A database with so many files that are nothing but numbers, and whoever joins. */
export async function openLeaseFleet(files: number): Promise<LeaseFleet> {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await freshDatabase());
  const client = stack.adopt(new Client(database.url), (each) => each.end());
  await client.connect();
  await client.query('create schema dropcast');
  await client.query('create table dropcast.file (id text primary key, seq bigint not null)');
  await client.query(serverTable);
  await client.query(lockTable);
  await client.query(`insert into dropcast.file select 'f_' || n, n from generate_series(1, $1::int) n`, [files]);
  const moved = stack.move();
  return {
    url: database.url,
    ask: async (text, values = []) => (await client.query<Record<string, unknown>>(text, [...values])).rows,
    join: async (name, queue = 'file') => moved.use(await openHolder(database.url, name, queue)),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

async function openHolder(url: string, hostName: string, name: 'file' | 'turn'): Promise<LeaseHolder> {
  await using stack = new AsyncDisposableStack();
  const pool = counted(stack.use(await openPool(placeAt(url), { hostName })));
  const clock = { now: () => Date.now(), elapsed: () => performance.now() };
  const broke = (): void => undefined;
  const queue = stack.use(await openJobQueue({ pool, name, hostName, elapsed: clock.elapsed, broke }));
  const leases = stack.use(createLeases({ pool, queue, clock, load: async (id) => someFacts({ id }) }));
  const moved = stack.move();
  return {
    pool,
    queue,
    leases,
    statements: () => pool.asked(),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

/** BEGIN and COMMIT are statements as well. */
function counted(pool: PostgresPool): PostgresPool & { asked(): number } {
  let asked = 0;
  return {
    asked: () => asked,
    awaySince: () => pool.awaySince(),
    whyAway: () => pool.whyAway(),
    listen: (...args) => pool.listen(...args),
    rows: (...args) => {
      asked += 1;
      return pool.rows(...args);
    },
    transaction: (work, kind) => {
      asked += 2;
      return pool.transaction(
        (ask) =>
          work((...args) => {
            asked += 1;
            return ask(...args);
          }),
        kind,
      );
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

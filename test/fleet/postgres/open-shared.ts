import { afterAll } from 'vitest';
import { ledgerSchema } from '../../../src/fleet/postgres/migrations.ts';
import { openSharedRows } from '../../../src/fleet/postgres/open.ts';
import type { SharedRows } from '../../../src/fleet/postgres/open.ts';
import { openPool } from '../../../src/fleet/postgres/pool.ts';
import type { PostgresPool } from '../../../src/fleet/postgres/pool.ts';
import type { PostgresPlace } from '../../../src/fleet/postgres/client-config.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { freshDatabase } from '../../support/postgres/server.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { OpenedRows } from '../../ledger/opened-rows.ts';

export interface OpenedShared extends OpenedRows {
  readonly rows: SharedRows;
  readonly pool: PostgresPool;
}

/**
 * On PostgreSQL, of a fleet with one member; its leases are in test/fleet. One at a time: the tests of a file share a database, which is
 * emptied for each, as to make one takes longer than most of them.
 */
export async function openShared(): Promise<OpenedShared> {
  const { place, pool } = await (database ??= openDatabase());
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const open = () =>
    openSharedRows(pool, {
      place,
      stateDir: scratch.file('state'),
      hostName: 'one',
      visible: () => null,
      repaired: () => undefined,
      settles: () => undefined,
      moved: () => undefined,
    });
  await empty(pool);
  let rows = await open();
  stack.defer(() => rows[Symbol.asyncDispose]());
  const parts = stack.move();
  return {
    pool,
    rows,
    reopened: async () => {
      await rows[Symbol.asyncDispose]();
      return (rows = await open());
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

let database: Promise<AsyncDisposable & { readonly place: PostgresPlace; readonly pool: PostgresPool }> | null = null;

afterAll(async () => (await database)?.[Symbol.asyncDispose]());

async function openDatabase() {
  await using stack = new AsyncDisposableStack();
  const place = placeAt(stack.use(await freshDatabase()).url);
  const pool = stack.use(await openPool(place, { hostName: 'one' }));
  await pool.rows('create schema dropcast_jobs');
  await pool.rows('create table dropcast_jobs.job (name text, singleton_key text, state text)');
  const parts = stack.move();
  return { place, pool, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/** But for what the steps of the schema put there. */
async function empty(pool: PostgresPool): Promise<void> {
  const [found] = await pool.rows<{ names: string | null }>(
    `select string_agg(format('%I.%I', schemaname, tablename), ', ') as names from pg_tables
      where schemaname = '${ledgerSchema}' and tablename not in ('schema_step', 'identity', 'server', 'lock')`,
  );
  if (found?.names) await pool.rows(`truncate ${found.names} restart identity`);
}

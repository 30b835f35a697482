import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../pipeline/file/store-errors.ts';
import type { PostgresPool, Ask } from './pool.ts';

/** A transaction whose COMMIT was sent. */
export interface Sent {
  readonly xid: string;
  /** `whichDatabase`, as returned in the transaction. */
  readonly database: string;
}

/**
 * SQL that identifies the server, its start, the database and the tables. If any of them differs, this host's writes
 * may be missing.
 */
export const whichDatabase = `concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), (SELECT oid FROM pg_database WHERE
  datname = current_database()), to_regclass('dropcast.file')::oid)`;

/** How long to keep asking for the outcome, in milliseconds. Other writes are blocked until then. */
const patienceMs = 3_000;
const everyMs = 100;

/**
 * Asks the server for the outcome of a COMMIT that was cut off. A different or restarted server cannot tell: the same
 * number may be another transaction there.
 *
 * @returns null: unknown
 */
async function outcomeOf(
  pool: Pick<PostgresPool, 'rows'>,
  { xid, database }: Sent,
): Promise<'committed' | 'aborted' | null> {
  const until = performance.now() + patienceMs;
  do {
    const found = await statusOf(pool, xid);
    if (found !== null && found.now !== database) return null;
    if (found?.outcome === 'committed' || found?.outcome === 'aborted') return found.outcome;
    await sleep(everyMs);
  } while (performance.now() < until);
  return null;
}

/** Asks the server once. @returns null if it does not answer */
async function statusOf(
  { rows }: Pick<PostgresPool, 'rows'>,
  xid: string,
): Promise<{ readonly now: string; readonly outcome: string } | null> {
  try {
    const text = `SELECT ${whichDatabase} AS now, pg_xact_status($1::xid8) AS outcome`;
    return (await rows<{ now: string; outcome: string }>(text, [xid]))[0] ?? null;
  } catch (error) {
    if (error instanceof LedgerUnavailableError) return null;
    throw error;
  }
}

/**
 * Returns the results of a transaction that failed with an unknown outcome, if it was committed after all.
 *
 * @param results returned if the transaction was committed
 * @throws {LedgerUnavailableError} if the transaction was not committed, or its outcome is unknown
 */
export async function settled<T>(
  error: unknown,
  pool: Pick<PostgresPool, 'rows'>,
  sent: Sent | null,
  results: T,
): Promise<T> {
  if (!(error instanceof OutcomeUnknownError) || sent === null) throw error;
  const outcome = await outcomeOf(pool, sent);
  if (outcome === 'committed') return results;
  throw outcome === 'aborted' ? error.cause : error;
}

/**
 * How long no new work starts after the ledger moved to another server, in milliseconds. A running host learns of the
 * move and adds its receipts within 15 s, or it counts as silent.
 */
const calmMs = 20_000;

/** Current time on the database's clock, in epoch milliseconds. */
const now = '(1000*extract(epoch FROM clock_timestamp()))::bigint';

/**
 * SQL that identifies the server, timeline, database and tables. It stays the same when a server restarts, because
 * nothing is lost. A promoted standby or a restored backup may lack the last writes, so it differs there. Any role may
 * query it.
 */
const thisServer = `CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE concat_ws(' ',
  (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(pg_current_wal_lsn()), 8),
  (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass('dropcast.file')::oid) END`;

/**
 * Table with the ledger's last server, and the time since when. For a new ledger the time is 0, so nothing has to wait.
 */
export const serverTable = `CREATE TABLE dropcast.server (id bigint PRIMARY KEY CHECK (id = 1), name text NOT NULL, since bigint NOT NULL);
  INSERT INTO dropcast.server VALUES (1, ${thisServer}, 0);`;

/** SQL condition: every running host has had time to add its receipts. */
export const isSettled = `EXISTS (SELECT FROM dropcast.server WHERE name = ${thisServer} AND abs(${now} - since) >= ${calmMs})`;

/** Why new work has to wait after a failover. */
export const settling =
  'the database now runs on another server, or from a backup, and may lack the last writes: ' +
  `no new work starts for ${calmMs / 1_000} s, while each host adds its receipts`;

/**
 * Records a new server. The first host that meets it starts the waiting period of all hosts.
 *
 * @returns whether hosts still have to wait
 */
export async function noteServer(ask: Ask): Promise<boolean> {
  const [found] = await ask<{ settles: boolean }>(`WITH noted AS (
      UPDATE dropcast.server SET name = ${thisServer}, since = ${now} WHERE name <> ${thisServer} RETURNING id
    ) SELECT EXISTS (SELECT FROM noted) OR NOT ${isSettled} AS settles`);
  return found?.settles === true;
}

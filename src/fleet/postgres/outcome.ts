import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../pipeline/file/store-errors.ts';
import type { PostgresPool } from './pool.ts';

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
export async function outcomeOf(
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

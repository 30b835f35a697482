import { setTimeout as sleep } from 'node:timers/promises';
import { LedgerUnavailableError, OutcomeUnknownError } from '../../pipeline/file/store-errors.ts';
import type { PostgresPool } from './pool.ts';

/** A transaction that was sent to its end. */
export interface Sent {
  readonly xid: string;
  /** `whichDatabase`, as it answered in the transaction. */
  readonly database: string;
}

/** Which server this is, since which start, which database and which tables: others may lack what this host has written. */
export const whichDatabase = `concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), (SELECT oid FROM pg_database WHERE
  datname = current_database()), to_regclass('dropcast.file')::oid)`;

/** Writes wait for it. */
const patienceMs = 3_000;
const everyMs = 100;

/**
 * The connection was cut in a COMMIT: the server knows what came of it. Another server does not, nor one that has started since: there the
 * same number may be another transaction.
 *
 * @returns null: nobody can tell
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

/** @returns null while the server does not answer */
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
 * @param results what is to be returned when it was done
 * @throws {LedgerUnavailableError} it was not, or nobody knows
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

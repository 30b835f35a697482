import type { Compilable, Kysely } from 'kysely';
import type { LedgerTables } from './schema.ts';
import type { SqlWords } from './words.ts';
import type { Value, Work } from './work.ts';

/** Access to the rows in SQLite or PostgreSQL. A refusal is thrown as `LedgerUnavailableError`. */
export interface Connection {
  /** For queries that are checked against the schema. `destroy()` closes all of it. */
  readonly db: Kysely<LedgerTables>;
  readonly words: SqlWords;
  /**
   * Does all of it, or nothing; writes are done in the order of the calls.
   *
   * @param held a file that this host must hold when the write is done, where several hosts share the ledger
   * @returns what the work returns, once it is on disk; rejects with what it threw, or with what kept it from the disk
   * @throws {LostClaimError} another host holds it
   */
  write<T>(work: () => Work<T>, held?: string): Promise<T>;
  /** Reads one consistent snapshot. */
  read<T>(work: () => Work<T>): Promise<T>;
  /**
   * Builds a query once that runs for every file, or several times a second.
   *
   * @param query its last values differ from call to call; any placeholder value will do
   * @returns runs the query with those values
   */
  prepared<Row>(query: Compilable<Row>): (...last: readonly Value[]) => Promise<readonly Row[]>;
}

import type { Compilable, Kysely } from 'kysely';
import type { LedgerTables } from './schema.ts';
import type { SqlWords } from './words.ts';
import type { Value, Work } from './work.ts';

/** Access to rows in SQLite or PostgreSQL. If the store refuses, calls throw `LedgerUnavailableError`. */
export interface Connection {
  /** Builds queries that are checked against the schema. `destroy()` closes the connection. */
  readonly db: Kysely<LedgerTables>;
  readonly words: SqlWords;
  /**
   * Runs `work` in one transaction, completely or not at all. Writes run in call order.
   *
   * @param held a file that this host must hold when the write is done, if several hosts share the ledger
   * @returns the result of `work`, once it is on disk; rejects with an error from `work`, or with what kept it from the
   *   disk
   * @throws {LostClaimError} if another host holds the file
   */
  write<T>(work: () => Work<T>, held?: string): Promise<T>;
  /** Reads one consistent snapshot. */
  read<T>(work: () => Work<T>): Promise<T>;
  /**
   * Compiles a query once, for queries that run for every file or several times a second.
   *
   * @param query its last values differ between calls; any placeholder values will do
   * @returns a function that runs the query with those values
   */
  prepared<Row>(query: Compilable<Row>): (...last: readonly Value[]) => Promise<readonly Row[]>;
}

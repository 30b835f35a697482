import type { DatabaseSync } from 'node:sqlite';
import { translated } from '../ledger-error.ts';
import type { StoredRow, Value, Work } from '../work.ts';

export interface Statement {
  /** Whether the statement returns rows. */
  readonly isQuery: boolean;
  all(values: readonly Value[]): readonly unknown[];
  run(values: readonly Value[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
}

/** SQL statements on the single connection. If the machine refuses, calls throw `LedgerUnavailableError`. */
export interface Statements {
  /** Prepares each text once and caches it. */
  prepare(text: string): Statement;
  rows(text: string, values: readonly Value[]): readonly StoredRow[];
  run(text: string, values?: readonly Value[]): void;
  /** Whether a transaction is open. If the disk is full or failing, SQLite ends the transaction itself. */
  isInTransaction(): boolean;
  /** Runs `work` completely or not at all. Its writes are on disk when this returns. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/** Limit on prepared statements. The ledger has about sixty; only those that list files by state have variants. */
const mostPrepared = 100;

/**
 * Opens a connection's statements, which stay prepared. Preparing one for each query took 14 to 19 % of the pipeline's
 * time.
 */
export function openStatements(database: DatabaseSync): Statements {
  const prepared = new Map<string, Statement>();
  const prepare = (text: string): Statement => {
    const known = prepared.get(text);
    if (known !== undefined) return known;
    if (prepared.size >= mostPrepared) prepared.clear();
    const statement = statementOf(database, text);
    prepared.set(text, statement);
    return statement;
  };
  const run = (text: string, values: readonly Value[] = []): void => void prepare(text).run(values);
  const rollBack = (): void => {
    // SQLite may have rolled back already (sqlite.org/lang_transaction.html, section 4); a second ROLLBACK would hide
    // the reason.
    if (database.isTransaction) run('ROLLBACK');
  };
  return {
    prepare,
    rows: (text, values) => prepare(text).all(values) as readonly StoredRow[],
    run,
    isInTransaction: () => database.isTransaction,
    transaction: (work) => {
      run('BEGIN');
      try {
        const result = work();
        run('COMMIT');
        return result;
      } catch (error) {
        rollBack();
        throw error;
      }
    },
    close: () => {
      prepared.clear();
      database.close();
    },
  };
}

/** Runs `work` without interruption, within a transaction if one was begun. */
export function doWork<T>(sql: Statements, work: Work<T>): T {
  let step = work.next();
  while (step.done !== true) {
    const { text, values } = step.value;
    step = work.next(sql.rows(text, values));
  }
  return step.value;
}

function statementOf(database: DatabaseSync, text: string): Statement {
  const path = database.location();
  const statement = translating(path, () => database.prepare(text));
  return {
    isQuery: statement.columns().length > 0,
    all: (values) => translating(path, () => statement.all(...values)),
    run: (values) => translating(path, () => statement.run(...values)),
  };
}

function translating<T>(path: string | null, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translated(error, path);
  }
}

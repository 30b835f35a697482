import type { DatabaseSync } from 'node:sqlite';
import { translated } from '../ledger-error.ts';
import type { StoredRow, Value, Work } from '../work.ts';

interface Statement {
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

/**
 * A write to the ledger, done completely or not at all. It may run more than once before it counts, so it must have no
 * other side effects.
 */
type Write<T> = (sql: Statements) => T;

/**
 * Collects the writes from one turn of the event loop into one transaction, so that they wait for the disk only once.
 */
export interface GroupCommit {
  /**
   * Runs writes in call order.
   * @returns the write's result, once it is on disk; rejects with the error that it threw or that kept it from the disk
   */
  write<T>(write: Write<T>): Promise<T>;
  /** Commits waiting writes immediately. */
  finish(): void;
}

/** Maximum writes per transaction, which blocks everything else. */
const mostInGroup = 500;

/**
 * Each commit waits as long as the previous one took, up to this limit, so slower disks get larger groups and steps can
 * run in between. A commit takes 0.2 ms on an idle SSD, 3 ms on a busy one, and 10 ms on a hard disk.
 */
const longestRestMs = 10;

interface Member {
  readonly write: Write<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Combines simultaneous changes to many files into one durable write. A refused write does not affect others: a failed
 * group is rolled back, and each of its writes is retried alone.
 */
export function createGroupCommit(sql: Statements): GroupCommit {
  let waiting: Member[] = [];
  let restUntil = 0;
  const schedule = (): void => {
    const restMs = restUntil - performance.now();
    // A timer waits for at least a millisecond.
    if (restMs < 1) setImmediate(flushAndSchedule);
    else setTimeout(flushAndSchedule, restMs);
  };
  const flush = (): void => {
    const group = waiting.slice(0, mostInGroup);
    if (group.length === 0) return;
    waiting = waiting.slice(mostInGroup);
    const start = performance.now();
    commit(group, sql);
    const end = performance.now();
    restUntil = end + Math.min(end - start, longestRestMs);
  };
  const flushAndSchedule = (): void => {
    flush();
    if (waiting.length > 0) schedule();
  };
  return {
    write: <T>(write: Write<T>) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ write, resolve, reject });
        if (waiting.length === 1) schedule();
      }),
    finish: () => {
      while (waiting.length > 0) flush();
    },
  };
}

function commit(group: readonly Member[], sql: Statements): void {
  let results: readonly unknown[];
  try {
    results = sql.transaction(() => group.map(({ write }) => write(sql)));
  } catch (error) {
    if (group.length === 1) group[0]?.reject(error);
    else for (const member of group) commit([member], sql);
    return;
  }
  group.forEach(({ resolve }, n) => resolve(results[n]));
}

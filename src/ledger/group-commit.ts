import type { Statements } from './statements.ts';

/** A write to the ledger: all of it, or nothing. It may be done more than once before it counts, so it changes nothing else. */
export type Write<T> = (sql: Statements) => T;

/** Collects the writes of one turn of the event loop into one transaction, and so into one wait for the disk. */
export interface GroupCommit {
  /**
   * Writes are done in the order of the calls.
   * @returns what the write returned, once it is on disk; rejects with what it threw, or with what kept it from the disk
   */
  write<T>(write: Write<T>): Promise<T>;
}

/** Writes per transaction at most: nothing else runs meanwhile. */
const mostInGroup = 500;

interface Member {
  readonly write: Write<unknown>;
  /** Of its own write. */
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * What many files learn at the same moment costs one durable write. Whoever is refused is refused alone: a group that fails is undone
 * as a whole, and each of its writes is tried for itself.
 */
export function createGroupCommit(sql: Statements): GroupCommit {
  let waiting: Member[] = [];
  const flush = (): void => {
    const group = waiting.slice(0, mostInGroup);
    waiting = waiting.slice(mostInGroup);
    if (waiting.length > 0) setImmediate(flush);
    commit(group, sql);
  };
  return {
    write: <T>(write: Write<T>) =>
      new Promise<T>((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ write, resolve, reject });
      }),
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

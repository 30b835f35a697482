import { LedgerUnavailableError } from '../../pipeline/file/store-errors.ts';
import type { Work } from '../../ledger/work.ts';

export interface Write<T> {
  readonly work: () => Work<T>;
  /** The file that this host must hold during the write. */
  readonly held?: string | undefined;
}

/** Runs writes in order in one transaction. @returns their results, once all writes are on disk */
export type Together = (writes: readonly Write<unknown>[]) => Promise<readonly unknown[]>;

/** Collects writes that arrive during a transaction into the next one. */
export interface GroupCommit {
  write<T>(work: () => Work<T>, held?: string): Promise<T>;
  /** Resolves when no write is waiting. */
  finish(): Promise<void>;
}

/** Maximum writes per transaction, which holds locks on all their rows. */
const mostInGroup = 100;

interface Member extends Write<unknown> {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Runs writes in call order, one transaction after another. A refused write does not affect others: a failed group is
 * rolled back, and each of its writes is retried alone.
 */
export function createGroupCommit(together: Together): GroupCommit {
  let waiting: Member[] = [];
  let running: Promise<void> | null = null;
  const run = async (): Promise<void> => {
    // Writes requested in this turn of the event loop join the group.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const group = waiting.slice(0, mostInGroup);
      waiting = waiting.slice(mostInGroup);
      await commit(group, together);
    }
    running = null;
  };
  return {
    write: <T>(work: () => Work<T>, held?: string) =>
      new Promise<T>((resolve, reject) => {
        waiting.push({ work, held, resolve, reject });
        running ??= run();
      }),
    finish: async () => {
      await running;
    },
  };
}

async function commit(group: readonly Member[], together: Together): Promise<void> {
  try {
    const results = await together(group);
    group.forEach(({ resolve }, n) => resolve(results[n]));
  } catch (error) {
    // If the database is unreachable, all writes in the group fail. After an unknown outcome, no write may be repeated.
    if (group.length === 1 || isAway(error)) for (const { reject } of group) reject(error);
    else for (const member of group) await commit([member], together);
  }
}

function isAway(error: unknown): boolean {
  return error instanceof LedgerUnavailableError && error.reason === 'away';
}

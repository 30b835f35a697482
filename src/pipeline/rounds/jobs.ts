import type { Clock } from '../file/ports.ts';
import { LedgerUnavailableError, passesSoon } from '../file/store-errors.ts';

/**
 * Pause after a job failed because of a bug or an unwritable ledger, so that it does not repeat its requests
 * immediately.
 */
const pauseMs = 30_000;

/** Pause while the ledger is unreachable, which usually lasts seconds. */
const shortPauseMs = 1_000;

/**
 * Runs the loop's background jobs, each at most once at a time.
 *
 * @param broke receives the error of a failed job
 */
export function createJobs(clock: Clock, broke: (name: string, error: unknown) => void) {
  const running = new Map<string, Promise<void>>();
  const pausedUntil = new Map<string, number>();
  return {
    start: (name: string, job: () => Promise<void>): void => {
      if (running.has(name) || (pausedUntil.get(name) ?? 0) > clock.elapsed()) return;
      const done = job()
        .catch((error: unknown) => {
          pausedUntil.set(name, clock.elapsed() + pauseAfter(error));
          broke(name, error);
        })
        .finally(() => running.delete(name));
      running.set(name, done);
    },
    finished: async (): Promise<void> => {
      await Promise.all(running.values());
    },
  };
}

function pauseAfter(error: unknown): number {
  return error instanceof LedgerUnavailableError && passesSoon(error.failureCode) ? shortPauseMs : pauseMs;
}

/**
 * Number of items worked on together, so that their writes share a commit. A larger number would delay everything else.
 */
const mostAtOnce = 50;

/**
 * Runs the same work for many files, several at a time, in order.
 *
 * @returns the results, in the order of the items
 * @throws the first error, once all work that had started has finished; nothing starts after it
 */
export async function sideBySide<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += mostAtOnce) {
    const ended = await Promise.allSettled(items.slice(from, from + mostAtOnce).map(work));
    for (const one of ended) {
      if (one.status === 'rejected') throw one.reason;
      results.push(one.value);
    }
  }
  return results;
}

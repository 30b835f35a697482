import type { Clock } from '../file/ports.ts';
import { LedgerUnavailableError, passesSoon } from '../file/store-errors.ts';

/**
 * The wait after a job failed through a bug or a ledger that cannot be written, so that it does not repeat its requests
 * at once.
 */
const pauseMs = 30_000;

/** The wait while the ledger is away, which usually lasts for seconds. */
const shortPauseMs = 1_000;

/**
 * Background jobs of the loop; each runs at most once at a time.
 *
 * @param broke receives what a job threw
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
    /** Resolves when all jobs have ended. */
    finished: async (): Promise<void> => {
      await Promise.all(running.values());
    },
  };
}

function pauseAfter(error: unknown): number {
  return error instanceof LedgerUnavailableError && passesSoon(error.failureCode) ? shortPauseMs : pauseMs;
}

/** Their writes share a commit. A larger number would delay everything else. */
const mostAtOnce = 50;

/**
 * Runs the same work for many files, several at a time, in their order.
 *
 * @returns the results, in the order of the items
 * @throws the first error, once all started work has ended; nothing starts after it
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

import type { Clock } from '../file/ports.ts';
import { LedgerUnavailableError, passesSoon } from '../file/store-errors.ts';

/** A job broke by a bug, or because the ledger cannot be written. It is not tried again at once, with more requests. */
const pauseMs = 30_000;

/** The ledger is away, which mostly lasts for seconds. */
const shortPauseMs = 1_000;

/** Work beside the loop: each job runs at most once at a time. */
export interface Jobs {
  start(name: string, job: () => Promise<void>): void;
  /** Resolves when none runs any more. */
  finished(): Promise<void>;
}

/** @param broke told of what a job threw */
export function createJobs(clock: Clock, broke: (name: string, error: unknown) => void): Jobs {
  const running = new Map<string, Promise<void>>();
  const pausedUntil = new Map<string, number>();
  return {
    start: (name, job) => {
      if (running.has(name) || (pausedUntil.get(name) ?? 0) > clock.elapsed()) return;
      const done = job()
        .catch((error: unknown) => {
          pausedUntil.set(name, clock.elapsed() + pauseAfter(error));
          broke(name, error);
        })
        .finally(() => running.delete(name));
      running.set(name, done);
    },
    finished: async () => {
      await Promise.all(running.values());
    },
  };
}

function pauseAfter(error: unknown): number {
  return error instanceof LedgerUnavailableError && passesSoon(error.failureCode) ? shortPauseMs : pauseMs;
}

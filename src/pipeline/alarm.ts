import type { Clock } from './file/ports.ts';

/** A job that broke is a mistake of ours, or the ledger cannot be written: it is not tried again at once, with more requests. */
const restMs = 30_000;

/** Jobs of which each runs at most once at a time, beside the loop. */
export function createJobs(
  clock: Clock,
  broke: (name: string, error: unknown) => void,
): {
  start(name: string, job: () => Promise<void>): void;
  settled(): Promise<void>;
} {
  const running = new Map<string, Promise<void>>();
  const restsUntil = new Map<string, number>();
  return {
    start: (name, job) => {
      if (running.has(name) || (restsUntil.get(name) ?? 0) > clock.elapsed()) return;
      const done = job()
        .catch((error: unknown) => {
          restsUntil.set(name, clock.elapsed() + restMs);
          broke(name, error);
        })
        .finally(() => running.delete(name));
      running.set(name, done);
    },
    settled: async () => {
      await Promise.all(running.values());
    },
  };
}

/** Sleeps until rung or until the time is over; a ring while awake makes the next sleep short. */
export function createAlarm(): { ring(): void; wait(ms: number): Promise<void> } {
  let isRung = false;
  let wake: (() => void) | null = null;
  return {
    ring: () => {
      isRung = true;
      wake?.();
    },
    wait: async (ms) => {
      if (!isRung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, ms);
        await promise;
        clearTimeout(timer);
        wake = null;
      }
      isRung = false;
      // p-queue and a synchronous ledger go on in microtasks: let timers and sockets have their turn.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

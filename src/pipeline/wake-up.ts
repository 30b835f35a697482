import type { Clock } from './file/ports.ts';

/** A sleep that can be interrupted. A ring during work makes the next sleep return immediately. */
export function createWakeUp(clock: Pick<Clock, 'elapsed'> = performanceClock) {
  let isRung = false;
  let wake: (() => void) | null = null;
  let timer: NodeJS.Timeout | undefined;
  let endsAt = 0;
  const alarms = new Map<string, number>();

  const ring = (): void => {
    isRung = true;
    wake?.();
  };

  const sleepUntil = (at: number): void => {
    clearTimeout(timer);
    endsAt = at;
    timer = setTimeout(() => wake?.(), Math.max(0, at - clock.elapsed()));
  };

  const sleep = async (mostMs: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    sleepUntil(Math.min(clock.elapsed() + mostMs, ...alarms.values()));
    await promise;
    clearTimeout(timer);
    wake = null;
  };

  return {
    ring,
    /**
     * Sets the time at which work can start again, which limits the loop's sleep. Each call replaces the one before
     * with the same name.
     *
     * @param at on the monotonic clock, in milliseconds
     */
    ringAt: (name: string, at: number): void => {
      alarms.set(name, at);
      if (wake !== null && at < endsAt) sleepUntil(at);
    },
    /** Sleeps until rung, until the earliest alarm, or for `mostMs` milliseconds. */
    wait: async (mostMs: number): Promise<void> => {
      if (!isRung) await sleep(mostMs);
      isRung = false;
      for (const [name, at] of alarms) if (at <= clock.elapsed()) alarms.delete(name);
      // p-queue and a synchronous ledger continue in microtasks, so this gives timers and sockets their turn.
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const performanceClock = { elapsed: () => performance.now() };

/** Resolves when a signal fires, immediately if it already has. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

import type { Clock } from '../pipeline/file/ports.ts';

/** Nobody can set this clock: settling must not end early because NTP or an operator moved the time. */
export interface MonotonicClock extends Pick<Clock, 'elapsed'> {
  /** Calls `action` once after `delayMs` (at most 2^31 - 1). The returned function cancels it. */
  after(delayMs: number, action: () => void): () => void;
}

export const monotonicClock: MonotonicClock = {
  elapsed: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    return () => clearTimeout(timer);
  },
};

/**
 * Calls `onStall` with the length in milliseconds after the event loop was blocked for more than 5 s: the kernel's event queue may
 * have overflowed meanwhile, and Node does not say so.
 *
 * @returns stops watching
 */
export function watchForStalls(clock: MonotonicClock, onStall: (stalledMs: number) => void): () => void {
  const watch = stallWatches.get(clock) ?? new StallWatch(clock);
  stallWatches.set(clock, watch);
  return watch.add(onStall);
}

/** With a timer for each of 1,000 folders, a process that has nothing to do wakes up 1,000 times a second. */
const stallWatches = new WeakMap<MonotonicClock, StallWatch>();

const TICK_MS = 1000;
const STALL_MS = 5000;

/** One timer for all who want to know, while there are any. */
class StallWatch {
  readonly #clock: MonotonicClock;
  readonly #listeners = new Set<{ readonly onStall: (stalledMs: number) => void }>();
  #lastMs = 0;
  #cancel: (() => void) | null = null;

  constructor(clock: MonotonicClock) {
    this.#clock = clock;
  }

  add(onStall: (stalledMs: number) => void): () => void {
    const listener = { onStall };
    if (this.#listeners.size === 0) this.#wait();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#cancel?.();
    };
  }

  #wait(): void {
    this.#lastMs = this.#clock.elapsed();
    this.#cancel = this.#clock.after(TICK_MS, () => this.#tick());
  }

  #tick(): void {
    const stalledMs = this.#clock.elapsed() - this.#lastMs - TICK_MS;
    this.#wait();
    if (stalledMs <= STALL_MS) return;
    for (const { onStall } of this.#listeners) onStall(Math.round(stalledMs));
  }
}

import type { Clock } from '../pipeline/file/ports.ts';

/** A clock that cannot be set, so settling does not end early when NTP or an operator changes the time. */
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
 * Calls `onStall` with the duration in milliseconds after the event loop was blocked for more than 5 s. The kernel's
 * event queue may have overflowed during that time, and Node does not report overflows.
 *
 * @returns a function that stops watching
 */
export function watchForStalls(clock: MonotonicClock, onStall: (stalledMs: number) => void): () => void {
  const watch = stallWatches.get(clock) ?? new StallWatch(clock);
  stallWatches.set(clock, watch);
  return watch.add(onStall);
}

/**
 * One stall watch per clock, shared by all folders. With a timer for each of 1,000 folders, an idle process would wake
 * up 1,000 times a second.
 */
const stallWatches = new WeakMap<MonotonicClock, StallWatch>();

const TICK_MS = 1000;
const STALL_MS = 5000;

/** Serves all listeners with one timer, which runs only while there are listeners. */
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

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'm'],
  [1, 's'],
] as const;

/** Formats milliseconds as `3.2 s` below a minute, otherwise by the two largest units: `1 m 20 s`, `2 h 5 m`. */
export function durationWords(ms: number): string {
  if (ms < 59_500) return `${Number((ms / 1_000).toFixed(1))} s`;
  let left = Math.round(ms / 1_000);
  const largest = units.findIndex(([size]) => left >= size);
  const parts = units.slice(largest, largest + 2).map(([size, unit]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return count === 0 ? '' : `${count} ${unit}`;
  });
  return parts.join(' ').trim();
}

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
  let last = clock.elapsed();
  let cancel = clock.after(TICK_MS, tick);
  function tick(): void {
    const now = clock.elapsed();
    if (now - last > TICK_MS + STALL_MS) onStall(Math.round(now - last - TICK_MS));
    last = now;
    cancel = clock.after(TICK_MS, tick);
  }
  return () => cancel();
}

const TICK_MS = 1000;
const STALL_MS = 5000;

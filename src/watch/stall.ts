import type { MonotonicClock } from './monotonic-clock.ts';

/**
 * Calls `onStall` with the length in milliseconds after the event loop stood still for more than 5 s: the kernel's event queue may
 * have overflowed meanwhile, which Node does not tell. Returns what ends it.
 */
export function watchForStalls(clock: MonotonicClock, onStall: (stalledMs: number) => void): () => void {
  let last = clock.now();
  let cancel = clock.after(TICK_MS, tick);
  function tick(): void {
    const now = clock.now();
    if (now - last > TICK_MS + STALL_MS) onStall(Math.round(now - last - TICK_MS));
    last = now;
    cancel = clock.after(TICK_MS, tick);
  }
  return () => cancel();
}

const TICK_MS = 1000;
const STALL_MS = 5000;

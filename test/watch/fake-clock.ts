import type { MonotonicClock } from '../../src/watch/clock.ts';

/** A clock that only moves when told; `timers` is how many are set. */
export class FakeClock implements MonotonicClock {
  #now = 0;
  readonly #timers = new Map<symbol, { readonly at: number; readonly action: () => void }>();

  get timers(): number {
    return this.#timers.size;
  }

  /** How long from now each timer fires, in milliseconds. */
  delays(): number[] {
    return Array.from(this.#timers.values(), ({ at }) => at - this.#now);
  }

  elapsed(): number {
    return this.#now;
  }

  after(delayMs: number, action: () => void): () => void {
    const id = Symbol('timer');
    this.#timers.set(id, { at: this.#now + delayMs, action });
    return () => this.#timers.delete(id);
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = [...this.#timers].filter(([, timer]) => timer.at <= end).toSorted((a, b) => a[1].at - b[1].at)[0];
      if (next === undefined) break;
      this.#timers.delete(next[0]);
      this.#now = Math.max(this.#now, next[1].at);
      next[1].action();
    }
    this.#now = end;
  }
}

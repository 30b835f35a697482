/**
 * The one clock of the service: rate limit, processing, expiry and every time in an answer follow it. It can be stopped
 * and moved forward, never back, so that no record is in the future.
 */
export class Clock {
  readonly #systemMs: () => number;
  readonly #listeners = new Set<() => void>();
  #aheadMs = 0;
  #frozenAtMs: number | null = null;

  readonly #startMs: number | undefined;

  /**
   * @param systemMs ms since 1970 @param latestMs of what has happened so far: if the clock would be before it, it is
   *   ahead
   * @param startMs where it begins to run, at the start and after a reset; default: with the system's clock
   */
  constructor(systemMs: () => number, latestMs = 0, startMs?: number) {
    this.#systemMs = systemMs;
    this.#startMs = startMs;
    const nowMs = startMs ?? systemMs();
    this.#aheadMs = Math.max(nowMs, latestMs) - systemMs();
  }

  /** ms since 1970. A function, so that it can be passed alone. */
  readonly nowMs = (): number => this.#frozenAtMs ?? this.#systemMs() + this.#aheadMs;

  get isFrozen(): boolean {
    return this.#frozenAtMs !== null;
  }

  freeze(): void {
    this.#frozenAtMs = this.nowMs();
    this.#changed();
  }

  /** Continues from the current time, at the pace of the system's clock. */
  resume(): void {
    this.#aheadMs = this.nowMs() - this.#systemMs();
    this.#frozenAtMs = null;
    this.#changed();
  }

  /** Returns to its start, or to the system's clock, for a reset that deletes all records. */
  reset(): void {
    this.#aheadMs = this.#startMs === undefined ? 0 : this.#startMs - this.#systemMs();
    this.#frozenAtMs = null;
    this.#changed();
  }

  /** @param ms 0 or more @throws RangeError for a time after the year 9999 */
  advance(ms: number): void {
    if (ms > 0) requireFourDigits(this.nowMs() + ms);
    if (this.#frozenAtMs === null) this.#aheadMs += ms;
    else this.#frozenAtMs += ms;
    this.#changed();
  }

  /**
   * Stops at this time. @param atMs ms since 1970
   * @throws RangeError for a time before its own, because records would be in the future, and for one after the year
   *   9999
   */
  moveTo(atMs: number): void {
    const nowMs = this.nowMs();
    if (atMs < nowMs)
      throw new RangeError(
        `The clock is at ${new Date(nowMs).toISOString()} and never goes back. Start the sandbox with an earlier time instead (--now).`,
      );
    requireFourDigits(atMs);
    this.#frozenAtMs = atMs;
    this.#changed();
  }

  /** Delay of a timer for this time, at least 1 ms; null while the clock is frozen before it. */
  delayUntil(atMs: number): number | null {
    const delayMs = atMs - this.nowMs();
    return delayMs > 0 && this.isFrozen ? null : Math.max(delayMs, 1);
  }

  /** Calls back after each of the changes above. @returns a function that ends it */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Later times have years of five digits in ISO 8601, which no client expects, and after 275760 there are none. */
const LAST_MS = Date.UTC(9999, 11, 31);

function requireFourDigits(atMs: number): void {
  if (atMs > LAST_MS) throw new RangeError('The clock cannot pass the year 9999.');
}

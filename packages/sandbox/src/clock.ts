/**
 * The service's only clock, used for the rate limit, processing, expiry and every time in a response. It can be stopped
 * and moved forward, but never back, so that no record is in the future.
 */
export class Clock {
  readonly #systemMs: () => number;
  readonly #listeners = new Set<() => void>();
  #aheadMs = 0;
  #frozenAtMs: number | null = null;

  readonly #startMs: number | undefined;

  /**
   * @param systemMs returns ms since 1970
   * @param latestMs time of the latest record; the clock starts no earlier
   * @param startMs initial time, also after a reset; default: the system clock
   */
  constructor(systemMs: () => number, latestMs = 0, startMs?: number) {
    this.#systemMs = systemMs;
    this.#startMs = startMs;
    const nowMs = startMs ?? systemMs();
    this.#aheadMs = Math.max(nowMs, latestMs) - systemMs();
  }

  /** Returns ms since 1970. An arrow function, so that it can be passed unbound. */
  readonly nowMs = (): number => this.#frozenAtMs ?? this.#systemMs() + this.#aheadMs;

  get isFrozen(): boolean {
    return this.#frozenAtMs !== null;
  }

  freeze(): void {
    this.#frozenAtMs = this.nowMs();
    this.#changed();
  }

  /** Continues from the current time, at the pace of the system clock. */
  resume(): void {
    this.#aheadMs = this.nowMs() - this.#systemMs();
    this.#frozenAtMs = null;
    this.#changed();
  }

  /** Returns to the initial time, or to the system clock, for a reset that deletes all records. */
  reset(): void {
    this.#aheadMs = this.#startMs === undefined ? 0 : this.#startMs - this.#systemMs();
    this.#frozenAtMs = null;
    this.#changed();
  }

  /** @param ms 0 or more @throws RangeError the new time is after the year 9999 */
  advance(ms: number): void {
    if (ms > 0) requireFourDigits(this.nowMs() + ms);
    if (this.#frozenAtMs === null) this.#aheadMs += ms;
    else this.#frozenAtMs += ms;
    this.#changed();
  }

  /**
   * Stops the clock at a time. @param atMs ms since 1970
   * @throws RangeError the time is after the year 9999, or before the current one, which would put records in the
   *   future
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

  /** Returns the timer delay until this time, at least 1 ms; null while the clock is frozen before it. */
  delayUntil(atMs: number): number | null {
    const delayMs = atMs - this.nowMs();
    return delayMs > 0 && this.isFrozen ? null : Math.max(delayMs, 1);
  }

  /** Calls the listener after each change to the clock. @returns a function that unsubscribes it */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/**
 * The latest time allowed. Later years have five digits in ISO 8601, which no client expects, and `Date` ends in
 * 275760.
 */
const LAST_MS = Date.UTC(9999, 11, 31);

function requireFourDigits(atMs: number): void {
  if (atMs > LAST_MS) throw new RangeError('The clock cannot pass the year 9999.');
}

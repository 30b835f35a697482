/**
 * Work that comes in bursts, done in slices with turns of the event loop between them, in the order in which it came. What is asked for
 * again before it was done is done once.
 */
export class Slices {
  readonly #waiting = new Map<string, () => void>();
  #isRunning = false;

  /** @param work must not throw */
  add(key: string, work: () => void): void {
    if (this.#waiting.has(key)) return;
    this.#waiting.set(key, work);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(() => this.#run());
  }

  #run(): void {
    const endsAt = performance.now() + SLICE_MS;
    for (const [key, work] of this.#waiting) {
      this.#waiting.delete(key);
      work();
      if (performance.now() >= endsAt) break;
    }
    this.#isRunning = this.#waiting.size > 0;
    if (this.#isRunning) setImmediate(() => this.#run());
  }
}

const SLICE_MS = 10;

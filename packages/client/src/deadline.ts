/**
 * A signal that fires after a given time unless disposed of first. Unlike `AbortSignal.timeout`, its timer keeps the
 * process alive and can be cancelled.
 */
export class Deadline implements Disposable {
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;

  /** @param ms 1 to 2,147,483,647, or Infinity for never */
  constructor(ms: number) {
    if (ms !== Infinity) this.#timer = setTimeout(() => this.#over.abort(), ms);
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/**
 * A signal that fires after a time, unless it is disposed of before. Not `AbortSignal.timeout`, whose timer does not
 * keep the process alive and lasts as long as its time, whatever ends before.
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

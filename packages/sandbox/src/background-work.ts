/** Work that was begun and is waited for by nobody else: closing waits until all of it has ended. */
export class BackgroundWork {
  readonly #work = new Set<Promise<unknown>>();
  readonly #onDefect: (error: unknown) => void;

  /** Work handles its own failures; `onDefect` is told of those that it did not expect. */
  constructor(onDefect: (error: unknown) => void) {
    this.#onDefect = onDefect;
  }

  track(work: Promise<unknown>): void {
    const tracked = work.catch(this.#onDefect).finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }

  async finished(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work);
  }
}

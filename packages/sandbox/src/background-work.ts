/** Runs work in the background. Closing waits for all of it. */
export class BackgroundWork {
  readonly #work = new Set<Promise<unknown>>();
  readonly #onDefect: (error: unknown) => void;

  /** @param onDefect receives unexpected errors; work handles its expected failures itself */
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

/** Collects what must be closed, and closes it in reverse order. Node 22 has no `AsyncDisposableStack`. */
export class Cleanup implements AsyncDisposable {
  #steps: (() => unknown)[] = [];
  #disposed = false;

  get disposed(): boolean {
    return this.#disposed;
  }

  /** Adds a resource. @returns the resource */
  use<T extends AsyncDisposable | Disposable>(resource: T): T {
    this.defer(() => (Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose]()));
    return resource;
  }

  /** Adds a function to call. */
  defer(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Hands everything over to a new object, and leaves nothing to close here. */
  move(): Cleanup {
    const heir = new Cleanup();
    heir.#steps = this.#steps;
    this.#steps = [];
    return heir;
  }

  /** Closes everything, also after an error. @throws the error of a step, the last one if there are several */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true;
    const step = this.#steps.pop();
    if (step === undefined) return;
    try {
      await step();
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }
}

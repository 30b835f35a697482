interface Event {
  readonly at: number;
  readonly number: number;
  action: (() => void) | null;
}

/** Time that passes as fast as everything in it is done. */
export class VirtualTime {
  now = 0;
  #count = 0;
  /** A heap: the earliest first, in order within one moment. */
  readonly #events: Event[] = [];

  /** @returns cancels it */
  after(ms: number, action: () => void): () => void {
    const event: Event = { at: this.now + Math.max(0, ms), number: (this.#count += 1), action };
    this.#push(event);
    return () => void (event.action = null);
  }

  /** Every so often, from a moment on. */
  every(ms: number, firstMs: number, action: () => void): void {
    this.after(firstMs, () => {
      action();
      this.every(ms, ms, action);
    });
  }

  /** All timers that are set meanwhile are of this time. */
  async run(ms: number): Promise<void> {
    const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
    Object.assign(globalThis, {
      setTimeout: (action: () => void, delayMs = 0) => this.after(delayMs, action),
      clearTimeout: (cancel: unknown) => {
        if (typeof cancel === 'function') cancel();
      },
    });
    try {
      await this.#runUntil(this.now + ms);
    } finally {
      Object.assign(globalThis, real);
    }
  }

  async #runUntil(end: number): Promise<void> {
    for (;;) {
      const [next] = this.#events;
      if (next === undefined || next.at > end) break;
      this.#pop();
      if (next.action === null) continue;
      this.now = next.at;
      next.action();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.now = end;
  }

  #push(event: Event): void {
    const heap = this.#events;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isEarlier(index, parent)) return;
      this.#exchange(index, parent);
      index = parent;
    }
  }

  #pop(): void {
    const heap = this.#events;
    this.#exchange(0, heap.length - 1);
    heap.pop();
    for (let index = 0; ;) {
      const children = [2 * index + 1, 2 * index + 2].filter((child) => child < heap.length);
      const least = children.reduce((best, child) => (this.#isEarlier(child, best) ? child : best), index);
      if (least === index) return;
      this.#exchange(index, least);
      index = least;
    }
  }

  #isEarlier(one: number, other: number): boolean {
    const [first, second] = [this.#events[one], this.#events[other]];
    if (first === undefined || second === undefined) return false;
    return first.at === second.at ? first.number < second.number : first.at < second.at;
  }

  #exchange(one: number, other: number): void {
    const [first, second] = [this.#events[one], this.#events[other]];
    if (first === undefined || second === undefined) return;
    [this.#events[one], this.#events[other]] = [second, first];
  }
}

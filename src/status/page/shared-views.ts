/** How long one rendering serves all who ask, when nothing happens. */
const SHARED_MS = 500;

/** From one rendering of an address to the next. */
const LEAST_MS = 250;

interface Rendering {
  readonly begunAt: number;
  /** How much had happened by then. */
  readonly happened: number;
  readonly page: Promise<string>;
  /** The one that comes next, for those who know that this one is out of date. */
  next: Promise<string> | null;
}

/**
 * Readers of the same address ask at the same moment, when an update arrives. They share one rendering, which was begun
 * after that, and no address is rendered more than four times a second, however many look and however much happens.
 */
export class SharedViews {
  readonly #renderings = new Map<string, Rendering>();
  #happened = 0;

  /** @param address with all that a rendering depends on */
  get(address: string, make: () => Promise<string>): Promise<string> {
    const last = this.#renderings.get(address);
    if (last === undefined) return this.#begin(address, make);
    const ageMs = performance.now() - last.begunAt;
    if (last.happened === this.#happened && ageMs < SHARED_MS) return last.page;
    if (ageMs >= LEAST_MS) return this.#begin(address, make);
    return (last.next ??= pause(LEAST_MS - ageMs).then(() => this.#begin(address, make)));
  }

  /** Earlier renderings are out of date. */
  somethingHappened(): void {
    this.#happened += 1;
  }

  #begin(address: string, make: () => Promise<string>): Promise<string> {
    const rendering: Rendering = { begunAt: performance.now(), happened: this.#happened, page: make(), next: null };
    this.#renderings.set(address, rendering);
    const forget = (): void => {
      if (this.#renderings.get(address) === rendering) this.#renderings.delete(address);
    };
    setTimeout(forget, SHARED_MS).unref();
    rendering.page.catch(forget);
    return rendering.page;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** How long a rendering is reused when nothing happens, in milliseconds. */
const SHARED_MS = 500;

/** Minimum interval between two renderings of an address, in milliseconds. */
const LEAST_MS = 250;

interface Rendering {
  readonly begunAt: number;
  /** Number of updates before this rendering began. */
  readonly happened: number;
  readonly page: Promise<string>;
  /** The next rendering, for readers who know that this one is stale. */
  next: Promise<string> | null;
}

/**
 * Shares renderings between readers of the same address, who all request it when an update arrives. The shared
 * rendering begins after that update. Each address is rendered at most four times a second, regardless of the number of
 * readers and updates.
 */
export class SharedViews {
  readonly #renderings = new Map<string, Rendering>();
  #happened = 0;

  /** @param address includes everything that the rendering depends on */
  get(address: string, make: () => Promise<string>): Promise<string> {
    const last = this.#renderings.get(address);
    if (last === undefined) return this.#begin(address, make);
    const ageMs = performance.now() - last.begunAt;
    if (last.happened === this.#happened && ageMs < SHARED_MS) return last.page;
    if (ageMs >= LEAST_MS) return this.#begin(address, make);
    return (last.next ??= pause(LEAST_MS - ageMs).then(() => this.#begin(address, make)));
  }

  /** Marks all earlier renderings as stale. */
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

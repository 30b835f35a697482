/** A map of bounded size that drops the oldest entry when full. */
export class RecentMap<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #maxEntries: number;

  /** @param maxEntries 1 or more */
  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  /** Sets an entry and makes it the newest, even if the key already exists. */
  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.#maxEntries && oldest !== undefined) this.#entries.delete(oldest);
  }

  clear(): void {
    this.#entries.clear();
  }
}

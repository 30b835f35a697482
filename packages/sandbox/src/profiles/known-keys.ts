/** Keys that were answered. The oldest is forgotten, as services do after a day or so. */
const most = 10_000;

/** The answers to each `Idempotency-Key`, until the process ends. */
export class KnownKeys<T> {
  readonly #answers = new Map<string, T>();

  find(key: string | undefined): T | undefined {
    return key === undefined ? undefined : this.#answers.get(key);
  }

  remember(key: string | undefined, answer: T): void {
    if (key === undefined) return;
    this.#answers.set(key, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > most && oldest !== undefined) this.#answers.delete(oldest);
  }

  /** For when all records are replaced: ids are reused afterwards. */
  forget(): void {
    this.#answers.clear();
  }
}

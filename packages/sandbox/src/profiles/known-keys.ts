/** Maximum number of keys kept. Beyond it, the oldest is forgotten, as services do after a day or so. */
const most = 10_000;

/** The answers by `Idempotency-Key`, kept until the process exits. */
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

  /** Forgets all keys, for use when all records are replaced: ids are then reused. */
  forget(): void {
    this.#answers.clear();
  }
}

import { randomUUID } from 'node:crypto';

/** Carries a secret across a form's redirect to the view that shows it, once. */
export class ShownOnce {
  readonly #waiting = new Map<string, string>();

  /** Stores a secret. @returns the name for `take` */
  put(secret: string): string {
    const name = randomUUID();
    this.#waiting.set(name, secret);
    setTimeout(() => this.#waiting.delete(name), TIMEOUT_MS).unref();
    return name;
  }

  take(name: string | undefined): string | undefined {
    const secret = this.#waiting.get(name ?? '');
    this.#waiting.delete(name ?? '');
    return secret;
  }
}

/** Lifetime of a secret whose redirect the browser never follows. */
const TIMEOUT_MS = 60_000;

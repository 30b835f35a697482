import { randomUUID } from 'node:crypto';

/** Carries a secret over the redirect after a form to the one view that shows it. Whoever asks again gets nothing. */
export class ShownOnce {
  readonly #waiting = new Map<string, string>();

  /** @returns what to ask for it with */
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

/** For a browser that never follows the redirect. */
const TIMEOUT_MS = 60_000;

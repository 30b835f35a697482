import { randomUUID } from 'node:crypto';

/** Carries a secret across the redirect after a form to the view that shows it, once. */
export class ShownOnce {
  readonly #waiting = new Map<string, string>();

  /** @returns the name under which `take` returns it */
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

/** For browsers that never follow the redirect. */
const TIMEOUT_MS = 60_000;

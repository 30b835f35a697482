import type { Logger } from '../log/logger.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { IntakeStore } from '../pipeline/file/ports.ts';
import { mayBeHeldBySidecar } from './reroute.ts';

export interface HeldFilesOptions {
  readonly store: Pick<IntakeStore, 'unrouted'>;
  readonly logger: Logger;
  /** Asks the rules and the sidecar of one file again. */
  readonly reroute: (facts: Facts) => Promise<unknown>;
  /** From the end of one check of the sidecars to the next, in milliseconds, at most 2^31 - 1. */
  readonly intervalMs: () => number;
}

/**
 * Files that are held because nothing says where they go. Owns the timer of the regular check, which ends with it: no event comes for a
 * sidecar that is removed before it has settled, so what a sidecar holds is checked again from time to time.
 */
export class HeldFiles implements AsyncDisposable {
  readonly #options: HeldFilesOptions;
  #timer: NodeJS.Timeout | null = null;
  #check: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: HeldFilesOptions) {
    this.#options = options;
  }

  /** Routes all of them again: the configuration may be another one. Ends early when it is closed. */
  async rerouteAll(): Promise<void> {
    await this.#reroute(() => true);
  }

  /** Begins the regular check. */
  start(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#check = this.#reroute(mayBeHeldBySidecar)
        .catch((error: unknown) => this.#options.logger.error('Checking sidecars again failed', { err: error }))
        .finally(() => this.start());
    }, this.#options.intervalMs()).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#check;
  }

  async #reroute(isWanted: (facts: Facts) => boolean): Promise<void> {
    for (const facts of (await this.#options.store.unrouted()).filter(isWanted)) {
      if (this.#isClosed) return;
      await this.#options.reroute(facts);
    }
  }
}

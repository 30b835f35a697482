import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log/logger.ts';

export interface LostRowsOptions {
  readonly logger: Logger;
  /** Compares all folders with the ledger. @throws when that was not possible */
  readonly compare: () => Promise<void>;
}

/** The ledger may have lost rows: the folders are compared with it until that has worked. Owns the comparison, which ends with it. */
export class LostRows implements AsyncDisposable {
  readonly #options: LostRowsOptions;
  readonly #stop = new AbortController();
  #isWanted = false;
  #running: Promise<void> | null = null;

  constructor(options: LostRowsOptions) {
    this.#options = options;
  }

  get isLooking(): boolean {
    return this.#running !== null;
  }

  look(): void {
    this.#isWanted = true;
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { compare, logger } = this.#options;
    const { signal } = this.#stop;
    while (this.#isWanted && !signal.aborted) {
      this.#isWanted = false;
      try {
        await compare();
      } catch (err) {
        // Mostly, the database is away again: that is told elsewhere.
        logger.debug('The folders cannot be compared with the ledger; trying again soon', { err });
        this.#isWanted = true;
        await delay(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  }
}

const retryMs = 1_000;

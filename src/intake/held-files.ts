import type { Logger } from '../log/logger.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { RowStore } from '../pipeline/file/row-groups.ts';
import { isRoutedRegularly } from './reroute.ts';

export interface HeldFilesOptions {
  readonly store: RowStore<'unrouted'>;
  readonly logger: Logger;
  /** Applies the rules and the sidecar to one file again. Returns false if that is not possible now. */
  readonly reroute: (facts: Facts) => Promise<boolean>;
  /** Returns the time between two regular checks in milliseconds, at most 2^31 - 1. */
  readonly intervalMs: () => number;
}

/**
 * Reroutes files that have no route, or whose channel the service does not have. A regular check is needed because no
 * event reports a sidecar removed before it settled, or a channel refused after the rules changed. Owns one timer.
 */
export class HeldFiles implements AsyncDisposable {
  readonly #options: HeldFilesOptions;
  #timer: NodeJS.Timeout | null = null;
  #check: Promise<void> = Promise.resolve();
  /** Number of calls to `rerouteAll`, and the last call for which every file was routed. */
  #wanted = 0;
  #finished = 0;
  #isClosed = false;

  constructor(options: HeldFilesOptions) {
    this.#options = options;
  }

  /**
   * Reroutes all files for a new configuration. If that fails, or is not possible for one of them, the next regular
   * check repeats it. Stops early when disposed of.
   */
  async rerouteAll(): Promise<void> {
    this.#wanted += 1;
    await this.#reroute();
  }

  /** Starts the regular check. */
  start(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#check = this.#reroute()
        .catch((error: unknown) => this.#options.logger.error('Cannot check sidecars again', { err: error }))
        .finally(() => this.start());
    }, this.#options.intervalMs()).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#check;
  }

  async #reroute(): Promise<void> {
    const wanted = this.#wanted;
    const isAll = this.#finished < wanted;
    const rows = await this.#options.store.rows({ group: 'unrouted' });
    let areAllRouted = true;
    for (const facts of isAll ? rows : rows.filter(isRoutedRegularly)) {
      if (this.#isClosed) return;
      if (!(await this.#options.reroute(facts))) areAllRouted = false;
    }
    if (areAllRouted) this.#finished = Math.max(this.#finished, wanted);
  }
}

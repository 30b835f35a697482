import type { Logger } from '../log/logger.ts';

/** Collects the refused paths of one scan; those of it that are gone drop out at the end. */
export interface RefusedScan {
  add(path: string, why: string): void;
  end(): void;
}

/**
 * The paths that can never be sent. Each is logged once, with its reason; of a flood only the first between one scan and the
 * next, and the number of the others: whoever may write in a folder could else fill the log.
 */
export class RefusedPaths {
  readonly #folder: string;
  readonly #logger: Logger;
  /** Path → why. */
  #paths = new Map<string, string>();
  /** Since the last scan. */
  #found = 0;

  constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /** Path → why, in the order of the last scan. */
  get paths(): ReadonlyMap<string, string> {
    return this.#paths;
  }

  add(path: string, why: string): void {
    if (this.#paths.has(path)) return;
    this.#paths.set(path, why);
    this.#tell(path, why);
  }

  beginScan(): RefusedScan {
    const found = new Map<string, string>();
    return {
      add: (path, why) => {
        found.set(path, why);
        if (!this.#paths.has(path)) this.#tell(path, why);
      },
      end: () => {
        this.#paths = found;
        this.#tellRest();
      },
    };
  }

  #tell(path: string, why: string): void {
    this.#found += 1;
    if (this.#found <= MOST_LINES) this.#logger.warn('refused', { folder: this.#folder, path, why });
  }

  #tellRest(): void {
    const count = this.#found - MOST_LINES;
    this.#found = 0;
    if (count > 0) this.#logger.warn('refused further paths', { folder: this.#folder, count });
  }
}

const MOST_LINES = 20;

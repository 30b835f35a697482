import type { Logger } from '../log/logger.ts';

/** Collects the refused paths of one scan; those of it that are gone drop out at the end. */
export interface RefusedScan {
  add(path: string, why: string): void;
  end(): void;
}

/** The paths that can never be sent. Each is logged once, with its reason; of a flood only the first of a scan. */
export class RefusedPaths {
  readonly #folder: string;
  readonly #logger: Logger;
  #paths = new Set<string>();

  constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  get paths(): ReadonlySet<string> {
    return this.#paths;
  }

  add(path: string, why: string): void {
    if (this.#paths.has(path)) return;
    this.#paths.add(path);
    this.#logger.warn('refused', { folder: this.#folder, path, why });
  }

  beginScan(): RefusedScan {
    const found = new Set<string>();
    let fresh = 0;
    return {
      add: (path, why) => {
        found.add(path);
        if (this.#paths.has(path)) return;
        fresh += 1;
        if (fresh <= MOST_LINES) this.#logger.warn('refused', { folder: this.#folder, path, why });
      },
      end: () => {
        this.#paths = found;
        if (fresh <= MOST_LINES) return;
        this.#logger.warn('refused further paths', { folder: this.#folder, count: fresh - MOST_LINES });
      },
    };
  }
}

const MOST_LINES = 20;

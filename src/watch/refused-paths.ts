import type { Logger } from '../log/logger.ts';

/** Collects the paths that a scan refuses. `end` drops paths that were not found again. */
export interface RefusedScan {
  add(path: string, why: string): void;
  end(): void;
}

/**
 * Paths that can never be sent. Each is logged once, with its reason. Between two scans only the first few are logged,
 * plus a count of the rest, so that users with write access to a folder cannot flood the log.
 */
export class RefusedPaths {
  readonly #folder: string;
  readonly #logger: Logger;
  /** Path → reason. */
  #paths = new Map<string, string>();
  /** Number of paths found since the last scan. */
  #found = 0;

  constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  /** Path → reason, in the order of the last scan. */
  get paths(): ReadonlyMap<string, string> {
    return this.#paths;
  }

  /** Whether the path lies below a refused directory. */
  covers(path: string): boolean {
    const segments = path.split('/');
    return segments.some((_, depth) => depth > 0 && this.#paths.has(segments.slice(0, depth).join('/')));
  }

  add(path: string, why: string): void {
    if (this.#paths.has(path)) return;
    this.#paths.set(path, why);
    this.#log(path, why);
  }

  beginScan(): RefusedScan {
    const found = new Map<string, string>();
    return {
      add: (path, why) => {
        found.set(path, why);
        if (!this.#paths.has(path)) this.#log(path, why);
      },
      end: () => {
        this.#paths = found;
        this.#logRest();
      },
    };
  }

  #log(path: string, why: string): void {
    this.#found += 1;
    if (this.#found <= MOST_LINES) this.#logger.warn('Ignoring path', { folder: this.#folder, path, why });
  }

  #logRest(): void {
    const count = this.#found - MOST_LINES;
    this.#found = 0;
    if (count > 0) this.#logger.warn('Ignoring further paths', { folder: this.#folder, count });
  }
}

const MOST_LINES = 20;

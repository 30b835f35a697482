import type { Logger } from '../log/logger.ts';
import { createWakeUp } from '../pipeline/wake-up.ts';
import type { CompleteFile } from '../watch/ports.ts';

export interface ComparisonsOptions {
  readonly logger: Logger;
  /** Reads one file and decides about it. False: not possible now. */
  readonly compare: (file: CompleteFile, signal: AbortSignal) => Promise<boolean>;
}

/**
 * Files of one folder whose content must be read to see whether they changed. After a `chmod -R` these are all files.
 * They wait here, so the watcher can still offer new files, and the process reads one at a time. The list is not
 * durable: until a file was compared, its row has the old version, and the next start offers it again. Owns the
 * comparison under way.
 */
export class Comparisons implements AsyncDisposable {
  readonly #options: ComparisonsOptions;
  readonly #stop = new AbortController();
  /** By path, in order of arrival. */
  readonly #files = new Map<string, CompleteFile>();
  readonly #wakeUp = createWakeUp();
  #running: Promise<void> | null = null;

  constructor(options: ComparisonsOptions) {
    this.#options = options;
  }

  add(file: CompleteFile): void {
    if (this.#stop.signal.aborted) return;
    this.#files.set(file.path, file);
    this.#wakeUp.ring();
    this.#running ??= this.#run();
  }

  files(): readonly CompleteFile[] {
    return [...this.#files.values()];
  }

  /** Aborts the comparison under way, and waits for its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wakeUp.ring();
    await this.#running;
    this.#files.clear();
  }

  async #run(): Promise<void> {
    let retryMs = firstRetryMs;
    while (this.#files.size > 0 && !this.#stop.signal.aborted) {
      if ((await this.#round()) > 0) {
        retryMs = firstRetryMs;
        continue;
      }
      // A step has the row, or the disk does not answer.
      await this.#wakeUp.wait(retryMs);
      retryMs = Math.min(2 * retryMs, longestRetryMs);
    }
    this.#running = null;
  }

  /** Compares each file once. @returns how many were decided */
  async #round(): Promise<number> {
    let decided = 0;
    for (const file of this.files()) {
      if (this.#stop.signal.aborted) return decided;
      if (!(await inTurn(() => this.#compare(file)))) continue;
      decided += 1;
      // Another version may have arrived in the meantime.
      if (this.#files.get(file.path) === file) this.#files.delete(file.path);
    }
    return decided;
  }

  async #compare(file: CompleteFile): Promise<boolean> {
    const { compare, logger } = this.#options;
    try {
      return !this.#stop.signal.aborted && (await compare(file, this.#stop.signal));
    } catch (error) {
      logger.warn('Cannot compare a file with what was sent', {
        folder: file.folder,
        path: file.path,
        err: error,
      });
      return false;
    }
  }
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/** One for the process. */
let last: Promise<unknown> = Promise.resolve();

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work);
  last = done.catch(() => undefined);
  return done;
}

import type { Logger } from '../log/logger.ts';
import { createWakeUp } from '../pipeline/wake-up.ts';
import type { CompleteFile } from '../watch/ports.ts';

interface ComparisonsOptions {
  readonly logger: Logger;
  /** Reads one file and decides what to do with it. Returns false if that is not possible now. */
  readonly compare: (file: CompleteFile, signal: AbortSignal) => Promise<boolean>;
}

/**
 * Files of one folder that must be read to find out whether their content changed. After a `chmod -R`, that is all of
 * them. They wait here so that the watcher can keep offering new files, and the process reads one at a time. The list
 * is not durable: until a file has been compared, its row has the old version, and the next start offers the file
 * again. Owns the comparison in progress.
 */
export class Comparisons implements AsyncDisposable {
  readonly #options: ComparisonsOptions;
  readonly #stop = new AbortController();
  /** Files by path, in order of arrival. */
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

  /** Aborts the comparison in progress and waits for it to end. */
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
      // A step is holding the row, or the disk is not answering.
      await this.#wakeUp.wait(retryMs);
      retryMs = Math.min(2 * retryMs, longestRetryMs);
    }
    this.#running = null;
  }

  /** Compares each file once. @returns how many files were decided */
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

/** End of the process-wide queue of comparisons. */
let last: Promise<unknown> = Promise.resolve();

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = last.then(work);
  last = done.catch(() => undefined);
  return done;
}

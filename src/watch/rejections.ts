import type { Logger } from '../log/logger.ts';
import { NotNowError } from './ports.ts';

/**
 * What the sink rejects, in the log: one line for each cause, not for each file, and one with the number of files once it takes
 * files again. On a full disk a hundred files made 700 lines in a minute.
 */
export class Rejections {
  readonly #folder: string;
  readonly #logger: Logger;
  /** What was said of the cause → the files. */
  readonly #files = new Map<string, Set<string>>();

  constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  rejected(path: string, retryInMs: number, error: unknown): void {
    const cause = String(error);
    const files = this.#files.get(cause);
    const isNews = files === undefined && !(error instanceof NotNowError);
    const fields = { folder: this.#folder, path, retryInMs, err: error };
    if (isNews) this.#logger.warn('A file cannot be taken in; others that fail alike are only counted', fields);
    else this.#logger.debug('file not taken in', fields);
    if (isNews) this.#files.set(cause, new Set([path]));
    else files?.add(path);
  }

  /** The sink took a file: what made it refuse others has passed. */
  taken(): void {
    for (const [cause, files] of this.#files)
      this.#logger.info('Files are taken in again', { folder: this.#folder, waited: files.size, after: cause });
    this.#files.clear();
  }
}

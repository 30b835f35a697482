import type { Logger } from '../log/logger.ts';
import { isLedgerAway } from '../pipeline/file/store-errors.ts';
import { NotNowError } from './ports.ts';

/** Log messages for when the sink rejects a kind of report, and for when it accepts such reports again. */
interface RejectionWords {
  readonly rejected: string;
  readonly taken: string;
}

export const ofFiles: RejectionWords = { rejected: 'Cannot accept a file', taken: 'Accepting files again' };
export const ofMissingFiles: RejectionWords = {
  rejected: 'Cannot record a missing file',
  taken: 'Recording missing files again',
};

/**
 * Logs the sink's rejections: one line per cause instead of one per file, and another with the number of files once the
 * sink accepts them again. On a full disk, a hundred files used to log 700 lines in a minute.
 */
export class Rejections {
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #words: RejectionWords;
  /** Error text → rejected files. */
  readonly #files = new Map<string, Set<string>>();

  constructor(folder: string, logger: Logger, words: RejectionWords) {
    this.#folder = folder;
    this.#logger = logger;
    this.#words = words;
  }

  rejected(path: string, retryInMs: number, error: unknown): void {
    const cause = String(error);
    const files = this.#files.get(cause);
    // An unreachable fleet database is reported once, by the daemon.
    const isNews = files === undefined && !(error instanceof NotNowError) && !isLedgerAway(error);
    const fields = { folder: this.#folder, path, retryInMs, err: error };
    if (isNews) this.#logger.warn(`${this.#words.rejected}; further failures of this kind are only counted`, fields);
    else this.#logger.debug(this.#words.rejected, fields);
    if (isNews) this.#files.set(cause, new Set([path]));
    else files?.add(path);
  }

  /** Logs that the sink accepts reports again, and forgets the rejections. */
  taken(): void {
    for (const [cause, files] of this.#files)
      this.#logger.info(this.#words.taken, { folder: this.#folder, waited: files.size, after: cause });
    this.#files.clear();
  }
}

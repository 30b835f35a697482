import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../log/logger.ts';
import { versionOf } from '../pipeline/file/file-version.ts';
import { whyClosed } from '../read-permission.ts';
import { UNREADABLE_MS } from './completeness.ts';
import type { FolderParts } from './inventory.ts';
import { isLedgerAway } from '../pipeline/file/store-errors.ts';
import { NotNowError } from './ports.ts';

/**
 * Paths that can never be sent. Each is logged once, with its reason. Between two scans only the first few are logged,
 * plus a count of the rest, so that users with write access to a folder cannot flood the log.
 */
export class RefusedPaths {
  readonly #folder: string;
  readonly #logger: Logger;
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

  /** Records the paths that a finished scan refused. Drops those that it did not find again. */
  found(found: Map<string, string>): void {
    for (const [path, why] of found) if (!this.#paths.has(path)) this.#log(path, why);
    this.#paths = found;
    const count = this.#found - MOST_LINES;
    this.#found = 0;
    if (count > 0) this.#logger.warn('Ignoring further paths', { folder: this.#folder, count });
  }

  #log(path: string, why: string): void {
    this.#found += 1;
    if (this.#found <= MOST_LINES) this.#logger.warn('Ignoring path', { folder: this.#folder, path, why });
  }
}

const MOST_LINES = 20;

/** Directories that scans could not open. Reported once, after a delay, because the owner may be about to open them. */
export class ClosedDirectories {
  readonly #options: FolderParts;
  /** Path → time of the first failure, by the monotonic clock. */
  #since = new Map<string, number>();
  #reported = new Set<string>();

  constructor(options: FolderParts) {
    this.#options = options;
  }

  /** Whether a closed directory is still waiting to be reported. */
  get isWaiting(): boolean {
    return this.#since.size > this.#reported.size && this.#reported.size < MOST_REPORTED;
  }

  /** Records the directories that a finished scan could not open. @param found relative path → errno name */
  async found(found: ReadonlyMap<string, string>): Promise<void> {
    const now = this.#options.clock.elapsed();
    this.#since = new Map(Array.from(found.keys(), (path) => [path, this.#since.get(path) ?? now]));
    this.#reported = new Set([...this.#reported].filter((path) => found.has(path)));
    for (const [path, code] of found) {
      const isDue = now - (this.#since.get(path) ?? now) >= UNREADABLE_MS && !this.#reported.has(path);
      if (isDue && this.#reported.size < MOST_REPORTED) await this.#report(path, code);
    }
  }

  async #report(path: string, code: string): Promise<void> {
    const { folder, logger, sink } = this.#options;
    const absolute = join(folder.path, path);
    try {
      const version = versionOf(await lstat(absolute, { bigint: true }));
      await sink.closed({ folder: folder.path, path, version, why: await whyClosed(absolute, 'directory', code) });
      this.#reported.add(path);
    } catch (error) {
      logger.debug('Cannot record a closed directory; the next scan tries again', {
        folder: folder.path,
        path,
        err: error,
      });
    }
  }
}

/** Maximum number of directories to report. The status counts the rest as refused paths. */
const MOST_REPORTED = 1_000;

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

import { join } from 'node:path';
import { grantCommand, userOfProcess } from '../read-permission.ts';
import type { MonotonicClock } from './clock.ts';
import { readLimits, watchLimitAdvice } from './watch-limits.ts';

export interface EventGapsOptions {
  readonly clock: MonotonicClock;
  /** At least this long from one opening of the watches to the next; longer each time. */
  readonly leastMs: number;
  readonly folder: { readonly path: string };
  /** Why no event arrives although the watches are in place, or null. */
  readonly deafBecause: () => string | null;
  /** How many directories of all folders have to be watched. */
  readonly directories: () => number;
}

/** Whether the events of a folder are complete, and if not, when it is worth reopening its watches. */
export class EventGaps {
  readonly #options: EventGapsOptions;
  #why: string | null = null;
  /** The directory that may not be watched, relative to the folder. */
  #closed: string | null = null;
  #hasFailed = false;
  #openedAtMs = -Infinity;
  #waitMs: number;

  constructor(options: EventGapsOptions) {
    this.#options = options;
    this.#waitMs = options.leastMs;
  }

  /** Why events are missing, or null. */
  get why(): string | null {
    return this.#why ?? this.#options.deafBecause();
  }

  /** The watches are being opened. What was missing before counts as missing until they are in place. */
  opened(): void {
    const now = this.#options.clock.elapsed();
    const isLongAgo = now - this.#openedAtMs > LONGEST_WAIT_MS;
    this.#waitMs = isLongAgo ? this.#options.leastMs : Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
    this.#openedAtMs = now;
    this.#hasFailed = false;
  }

  /**
   * Of many errors the first since the watches were opened counts.
   *
   * @param path relative to the folder, where it is known
   * @returns whether events are missing because of it
   */
  failed(code: string, path: string | null): boolean {
    const reason = this.#reasonOf(code, path);
    if (reason === null) return false;
    if (this.#hasFailed) return true;
    this.#hasFailed = true;
    this.#why = `${reason}; scanning more often instead`;
    this.#closed = isPermission(code) ? path : null;
    return true;
  }

  /** All directories that existed when the watches were opened were tried. */
  caughtUp(): void {
    if (this.#hasFailed) return;
    this.#why = null;
    this.#closed = null;
  }

  /** @param isRefused whether the last scan could not read this directory either */
  isWorthOpening(isRefused: (path: string) => boolean): boolean {
    if (this.why === null || this.#options.clock.elapsed() - this.#openedAtMs < this.#waitMs) return false;
    return this.#closed === null || !isRefused(this.#closed);
  }

  #reasonOf(code: string, path: string | null): string | null {
    if (code === 'ENOSPC' || code === 'EMFILE')
      return watchLimitAdvice(code, this.#options.directories(), readLimits());
    if (!isPermission(code)) return null;
    const directory = path === null ? 'a directory' : path === '' ? 'the folder' : `the directory "${path}"`;
    const user = userOfProcess();
    const fact = `user ${user} may not open ${directory} (${code})`;
    if (path === null || user === 'root') return fact;
    return `${fact}; run \`${grantCommand(join(this.#options.folder.path, path), 'directory', user)}\``;
  }
}

/** With 10,000 directories it takes seconds, and a limit stays reached until somebody raises it. */
const LONGEST_WAIT_MS = 600_000;

function isPermission(code: string): boolean {
  return code === 'EACCES' || code === 'EPERM';
}

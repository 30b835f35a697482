import type { MonotonicClock } from './monotonic-clock.ts';

export interface EventGapsOptions {
  readonly clock: MonotonicClock;
  /** From one opening of the watches to the next, at least; longer each time. */
  readonly leastMs: number;
}

/** Whether the events of a folder are complete, and when it is worth opening its watches anew because they are not. */
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
    return this.#why;
  }

  /** The watches are being opened. What was missing before counts as missing until they are there. */
  opened(): void {
    const now = this.#options.clock.now();
    const isLongAgo = now - this.#openedAtMs > LONGEST_WAIT_MS;
    this.#waitMs = isLongAgo ? this.#options.leastMs : Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
    this.#openedAtMs = now;
    this.#hasFailed = false;
  }

  /**
   * Of many troubles the first since the watches were opened is told.
   *
   * @param path relative to the folder, where it is known
   * @returns whether events are missing because of it
   */
  failed(code: string, path: string | null): boolean {
    const reason = reasonOf(code, path);
    if (reason === null) return false;
    if (this.#hasFailed) return true;
    this.#hasFailed = true;
    this.#why = `${reason}; the folder is scanned more often instead`;
    this.#closed = isPermission(code) ? path : null;
    return true;
  }

  /** Every directory that was there when the watches were opened was tried. */
  caughtUp(): void {
    if (this.#hasFailed) return;
    this.#why = null;
    this.#closed = null;
  }

  /** @param isRefused whether the last scan could not read this directory either */
  isWorthOpening(isRefused: (path: string) => boolean): boolean {
    if (this.#why === null || this.#options.clock.now() - this.#openedAtMs < this.#waitMs) return false;
    return this.#closed === null || !isRefused(this.#closed);
  }
}

/** With 10,000 directories it takes seconds, and a limit stays reached until somebody raises it. */
const LONGEST_WAIT_MS = 600_000;

function isPermission(code: string): boolean {
  return code === 'EACCES' || code === 'EPERM';
}

/** The values of the limits are in /proc/sys, which a service does not see (ProcSubset=pid): so they are named only. */
function reasonOf(code: string, path: string | null): string | null {
  if (code === 'ENOSPC')
    return `the limit of inotify watches is reached (${code}): raise it with \`sudo sysctl fs.inotify.max_user_watches=1048576\`, and in /etc/sysctl.d for good`;
  if (code === 'EMFILE')
    return `the limit of inotify instances or open files is reached (${code}): raise it with \`sudo sysctl fs.inotify.max_user_instances=1024\`, and in /etc/sysctl.d for good`;
  if (!isPermission(code)) return null;
  const directory = path === null ? 'a directory' : path === '' ? 'the folder' : `the directory "${path}"`;
  return `${directory} may not be watched (${code}): the user of dropcast needs the right to read it`;
}

import { join, relative, sep } from 'node:path';
import { grantCommand, isRefusal, userOfProcess } from '../read-permission.ts';
import type { MonotonicClock } from './clock.ts';
import { EventProof, probeName } from './event-proof.ts';
import type { FolderEvents, OpenEvents } from './events.ts';
import type { FolderParts } from './inventory.ts';
import { isLeftAlone } from './left-alone-names.ts';
import type { Root } from './root.ts';
import type { RoughStats } from './taken-files.ts';
import { readLimits, watchLimitAdvice } from './kernel.ts';

interface HintsOptions extends FolderParts {
  readonly root: Root;
  readonly openEvents: OpenEvents;
  /** Minimum time between two openings of the watches. */
  readonly leastReopenMs: number;
  readonly directories: () => number;
  readonly scanSoon: () => void;
  readonly scanNamesSoon: () => void;
  /** Called when one of our paths, relative to the folder, may have changed. */
  readonly hint: (path: string) => void;
}

/** Turns file system events into hints, and reopens the watches when events are being missed. Owns the watches. */
export class Hints implements AsyncDisposable {
  readonly #options: HintsOptions;
  readonly #nested: ReadonlySet<string>;
  readonly #gaps: EventGaps;
  readonly #proof: EventProof;
  #events: FolderEvents | null = null;
  /** The folder's generation when the watches were opened; null if the folder was frozen then. */
  #openedOn: string | null = null;
  #heardAt: number | null = null;

  constructor(options: HintsOptions) {
    this.#options = options;
    this.#nested = new Set(options.folder.nested);
    this.#proof = new EventProof({ ...options, changed: () => this.#proved() });
    this.#gaps = new EventGaps({
      ...options,
      leastMs: options.leastReopenMs,
      deafBecause: () => this.#proof.deafBecause,
    });
  }

  get gap(): string | null {
    return this.#gaps.why;
  }

  /**
   * Whether scans must be as frequent as without watches. On a share, events report only changes made on this machine.
   */
  get isPolled(): boolean {
    const { folder, root } = this.#options;
    return this.#proof.deafBecause !== null || (folder.watch === 'auto' && root.remote !== null);
  }

  get heardMsAgo(): number | null {
    return this.#heardAt === null ? null : this.#options.clock.elapsed() - this.#heardAt;
  }

  /** A remark about the events for the status, or null. */
  get note(): string | null {
    const { folder, root } = this.#options;
    if (folder.watch !== 'auto' || root.remote === null) return this.#proof.untestedBecause;
    return `it is on ${root.remote}, where events report only changes made on this machine; so it is also scanned every few seconds`;
  }

  open(): void {
    const { folder, root, signal, openEvents } = this.#options;
    if (folder.watch === 'polling' || signal.aborted) return;
    this.#openedOn = root.isFrozen ? null : root.generation;
    this.#gaps.opened();
    this.#events = openEvents({
      root: folder.path,
      backend: folder.watch,
      leavesOut: (path) => this.#leavesOut(path),
      mayBeFile: (path) => this.#isOurs(this.#pathOf(path)),
      onEvent: (path) => this.#happened(path),
      onFile: (path, stats) => this.#found(path, stats),
      onError: (code, path) => this.#failed(code, path === undefined ? null : this.#pathOf(path)),
      onCaughtUp: () => this.#caughtUp(),
    });
  }

  directory(path: string): void {
    const { folder } = this.#options;
    this.#events?.watch(`${folder.path}/${path}`);
  }

  /**
   * Reopens the watches if that is worthwhile. Call only after a successful scan: opening the watches requests a scan,
   * so reopening after a failed scan would loop.
   *
   * @param isRefused whether the last scan could not read this directory
   */
  async renew(isRefused: (path: string) => boolean): Promise<void> {
    if (this.#events === null || this.#options.root.isFrozen) return;
    if (!this.#isOutdated && !this.#gaps.isWorthOpening(isRefused)) return;
    await this[Symbol.asyncDispose]();
    this.open();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const events = this.#events;
    this.#events = null;
    await this.#proof.end();
    await events?.[Symbol.asyncDispose]();
  }

  /**
   * Whether the folder is frozen, or was unavailable or replaced since the watches were opened. Watches stay on the old
   * directories and do not notice a mount on top.
   */
  get #isOutdated(): boolean {
    const { root } = this.#options;
    return root.isFrozen || this.#openedOn !== root.generation;
  }

  /** Compares a listed file with the inventory: it may have changed before its directory was watched. */
  #found(absolutePath: string, stats: RoughStats): void {
    const { inventory } = this.#options;
    const path = this.#pathOf(absolutePath);
    if (inventory.waiting.has(path) || !inventory.taken.isRoughly(path, stats)) this.#happened(absolutePath);
  }

  #happened(absolutePath: string): void {
    const { root, signal, scanSoon, hint } = this.#options;
    if (signal.aborted) return;
    const path = this.#pathOf(absolutePath);
    if (path === probeName) this.#proof.heard();
    else this.#heardAt = this.#options.clock.elapsed();
    if (path === '') scanSoon();
    if (path === '' || path === probeName || root.isFrozen || this.#leavesOut(absolutePath)) return;
    if (this.#isOurs(path)) hint(path);
  }

  #isOurs(path: string): boolean {
    const { folder, inventory } = this.#options;
    return inventory.has(path) || folder.accepts(path) !== null;
  }

  #failed(code: string, path: string | null): void {
    const { folder, logger, root, signal, scanSoon } = this.#options;
    if (signal.aborted) return;
    // While the folder is unavailable, errors reveal nothing about its directories. The watches are reopened
    // afterwards.
    if (!this.#isOutdated && this.#gaps.failed(code, path)) root.report();
    else logger.debug('watcher error', { folder: folder.path, path, code });
    scanSoon();
  }

  #caughtUp(): void {
    const { root } = this.#options;
    if (!this.#isOutdated) this.#gaps.caughtUp();
    root.report();
    // On a share, events for our own writes always arrive and prove nothing.
    if (!root.isFrozen && root.remote === null) this.#proof.begin();
    // Every listed file has been compared with the inventory; a names-only scan finds the missing ones.
    this.#options.scanNamesSoon();
  }

  /** Handles a new test result, which may change the scan interval. */
  #proved(): void {
    const { root, scanSoon } = this.#options;
    root.report();
    scanSoon();
  }

  #leavesOut(absolutePath: string): boolean {
    const path = this.#pathOf(absolutePath);
    if (path === '' || path === probeName) return false;
    return isLeftAlone(path) || this.#nested.has(absolutePath) || this.#options.folder.leavesOut(path);
  }

  #pathOf(absolutePath: string): string {
    const path = relative(this.#options.folder.path, absolutePath);
    return sep === '/' ? path : path.replaceAll(sep, '/');
  }
}

interface EventGapsOptions {
  readonly clock: MonotonicClock;
  /** Minimum time between two openings of the watches. The wait doubles each time. */
  readonly leastMs: number;
  readonly folder: { readonly path: string };
  /** Why events are not arriving although the watches are in place, or null. See `EventProof`. */
  readonly deafBecause: () => string | null;
  readonly directories: () => number;
}

/** Tracks whether a folder's events are complete and, if not, when reopening the watches is worthwhile. */
export class EventGaps {
  readonly #options: EventGapsOptions;
  #why: string | null = null;
  /** Directory that dropcast may not watch, relative to the folder. */
  #closed: string | null = null;
  #hasFailed = false;
  #openedAtMs = -Infinity;
  #waitMs: number;

  constructor(options: EventGapsOptions) {
    this.#options = options;
    this.#waitMs = options.leastMs;
  }

  get why(): string | null {
    return this.#why ?? this.#options.deafBecause();
  }

  /** Records that the watches are being opened. An earlier gap still counts until they are in place. */
  opened(): void {
    const now = this.#options.clock.elapsed();
    const isLongAgo = now - this.#openedAtMs > LONGEST_WAIT_MS;
    this.#waitMs = isLongAgo ? this.#options.leastMs : Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
    this.#openedAtMs = now;
    this.#hasFailed = false;
  }

  /**
   * Records an error. Only the first one since the watches were opened counts.
   *
   * @param path relative to the folder, if known
   * @returns whether the error means that events are being missed
   */
  failed(code: string, path: string | null): boolean {
    const reason = this.#reasonOf(code, path);
    if (reason === null) return false;
    if (this.#hasFailed) return true;
    this.#hasFailed = true;
    this.#why = `${reason}; scanning more often instead`;
    this.#closed = isRefusal(code) ? path : null;
    return true;
  }

  /** Clears the gap if every directory that existed when the watches were opened could be watched. */
  caughtUp(): void {
    if (this.#hasFailed) return;
    this.#why = null;
    this.#closed = null;
  }

  /**
   * Whether reopening the watches may help now. @param isRefused whether the last scan could not read this directory
   */
  isWorthOpening(isRefused: (path: string) => boolean): boolean {
    if (this.why === null || this.#options.clock.elapsed() - this.#openedAtMs < this.#waitMs) return false;
    return this.#closed === null || !isRefused(this.#closed);
  }

  #reasonOf(code: string, path: string | null): string | null {
    if (code === 'ENOSPC' || code === 'EMFILE')
      return watchLimitAdvice(code, this.#options.directories(), readLimits());
    if (!isRefusal(code)) return null;
    const directory = path === null ? 'a directory' : path === '' ? 'the folder' : `the directory "${path}"`;
    const user = userOfProcess();
    const fact = `user ${user} may not open ${directory} (${code})`;
    if (path === null || user === 'root') return fact;
    return `${fact}; run \`${grantCommand(join(this.#options.folder.path, path), 'directory', user)}\``;
  }
}

/** Maximum wait: opening 10,000 directories takes seconds, and a limit stays exhausted until an operator raises it. */
const LONGEST_WAIT_MS = 600_000;

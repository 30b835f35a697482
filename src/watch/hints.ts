import { relative, sep } from 'node:path';
import type { Logger } from '../log/logger.ts';
import type { MonotonicClock } from './clock.ts';
import { EventGaps } from './event-gaps.ts';
import { EventProof, probeName } from './event-proof.ts';
import type { FolderEvents, OpenEvents } from './events.ts';
import type { Inventory } from './inventory.ts';
import type { WatchSettings } from './ports.ts';
import type { Root } from './root.ts';
import type { RoughStats } from './taken-files.ts';
import { isLeftAlone } from './left-alone-names.ts';

export interface HintsOptions {
  readonly folder: WatchSettings;
  readonly inventory: Inventory;
  readonly clock: MonotonicClock;
  readonly logger: Logger;
  /** Once it fires, nothing is opened and nothing passed on any more. */
  readonly signal: AbortSignal;
  readonly root: Root;
  readonly openEvents: OpenEvents;
  /** At least this long from one opening of the watches to the next. */
  readonly leastReopenMs: number;
  /** How many directories of all folders have to be watched. */
  readonly directories: () => number;
  readonly scanSoon: () => void;
  readonly scanNamesSoon: () => void;
  /** Something may have happened to a path of ours, relative to the folder. */
  readonly hint: (path: string) => void;
}

/** Turns file system events into hints, and reopens the watches when they miss something. Owns the watches, which end with it. */
export class Hints implements AsyncDisposable {
  readonly #options: HintsOptions;
  readonly #nested: ReadonlySet<string>;
  readonly #gaps: EventGaps;
  readonly #proof: EventProof;
  #events: FolderEvents | null = null;
  /** The generation of the folder whose directories are watched; null when it was frozen. */
  #openedOn: string | null = null;
  #heardAt: number | null = null;

  constructor(options: HintsOptions) {
    this.#options = options;
    this.#nested = new Set(options.folder.nested);
    this.#proof = new EventProof({
      ...options,
      path: options.folder.path,
      isOnlyRead: options.folder.isOnlyRead === true,
      changed: () => this.#proved(),
    });
    this.#gaps = new EventGaps({
      ...options,
      leastMs: options.leastReopenMs,
      deafBecause: () => this.#proof.deafBecause,
    });
  }

  /** Why events are missing, or null. */
  get gap(): string | null {
    return this.#gaps.why;
  }

  /** Whether scans have to be as frequent as without watches: on a share, events tell only what this machine does. */
  get isPolled(): boolean {
    const { folder, root } = this.#options;
    return this.#proof.deafBecause !== null || (folder.watch === 'auto' && root.remote !== null);
  }

  /** How long ago an event told of a path in the folder; null: none did. */
  get heardMsAgo(): number | null {
    return this.#heardAt === null ? null : this.#options.clock.elapsed() - this.#heardAt;
  }

  /** What else there is to know about the events, or null. */
  get note(): string | null {
    const { folder, root } = this.#options;
    if (folder.watch !== 'auto' || root.remote === null) return this.#proof.untestedBecause;
    return `it is on ${root.remote}, where events tell only what this machine does; so it is scanned every few seconds as well`;
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

  /** A directory is there, and nothing keeps it from being watched. */
  directory(path: string): void {
    const { folder } = this.#options;
    this.#events?.watch(`${folder.path}/${path}`);
  }

  /**
   * Reopens the watches if that helps. Only after a scan that went well, as at the start: opening them asks for a scan, and if a scan
   * that fails reopened them, that would never end.
   *
   * @param isRefused whether the last scan could not read this directory either
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

  /** The watches are on the directories that were there when they were opened; nobody notices a mount over them. */
  get #isOutdated(): boolean {
    const { root } = this.#options;
    return root.isFrozen || this.#openedOn !== root.generation;
  }

  /** What the sink has of it may have changed before its directory was watched. */
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
    // While the whole folder is away, an error says nothing about its directories. Once it is back, the watches are reopened.
    if (!this.#isOutdated && this.#gaps.failed(code, path)) root.report();
    else logger.debug('watcher error', { folder: folder.path, path, code });
    scanSoon();
  }

  #caughtUp(): void {
    const { root } = this.#options;
    if (!this.#isOutdated) this.#gaps.caughtUp();
    root.report();
    // On a share, what this machine writes always arrives: that proves nothing.
    if (!root.isFrozen && root.remote === null) this.#proof.begin();
    // Each file was listed, and compared with what the sink has. What is missing was not.
    this.#options.scanNamesSoon();
  }

  /** Scans come more often from now on, or less. */
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

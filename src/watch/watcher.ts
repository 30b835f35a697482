import { dirname, resolve } from 'node:path';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Logger } from '../log/logger.ts';
import { accountsOf, countsOf, Inventory, lostFiles } from './inventory.ts';
import { monotonicClock, watchForStalls } from './clock.ts';
import type { MonotonicClock } from './clock.ts';
import { ClosedDirectories, RefusedPaths } from './refused-paths.ts';
import { openEvents } from './events.ts';
import type { OpenEvents } from './events.ts';
import { Hints } from './hints.ts';
import { MissingFiles, VanishBreaker } from './missing-files.ts';
import { OpenWriters } from './open-writers.ts';
import type {
  Accounts,
  KnownFile,
  KnownFiles,
  RefusedPath,
  Resumed,
  RootState,
  RootStore,
  SettlingFile,
  WatchActivity,
  WatchCounts,
  WatchSettings,
  WatchSink,
} from './ports.ts';
import { Reconciler } from './reconcile.ts';
import { MOST_FILES_ASKED } from './root-check.ts';
import { MarkSteps, RootClaim } from './root-claim.ts';
import type { FolderClaimant } from './root-mark.ts';
import { Root } from './root.ts';
import { ScanSchedule } from './scan-schedule.ts';
import type { ScanInterval } from './scan-schedule.ts';
import { Settler } from './settler.ts';
import { WatchedDirectories } from './kernel.ts';

interface FolderWatcherOptions {
  readonly folder: WatchSettings;
  readonly sink: WatchSink;
  readonly known: KnownFiles;
  readonly logger: Logger;
  readonly clock?: MonotonicClock;
  /** Owner to write into the folder's mark; null for no mark. */
  readonly owner: FolderClaimant | null;
  readonly roots: RootStore;
}

/** Shared by the whole process: a pass over /proc serves all folders, and the limit on watches covers them all. */
const openWriters = new OpenWriters();
const directories = new WatchedDirectories();

/**
 * Watches one folder. Offers every complete file to the sink, once per version, and reports every file that is gone.
 *
 * Events are hints that make this fast; full scans make it correct (design, section 6). A scan runs at the start, every
 * `rescanMs`, and whenever events may have been lost. It lists every directory. It checks the size and times of
 * accepted files only every eighth time, or always if scans are the only source, because looking at 100,000 files costs
 * a second of CPU time. With `watch: 'polling'` there are only scans, every 5 s or `rescanMs` if that is less, for at
 * most a twentieth of the time.
 *
 * Owns all its parts: disposing of the watcher ends their timers, watches and work.
 */
export class FolderWatcher implements AsyncDisposable {
  readonly #folder: WatchSettings;
  readonly #options: FolderWatcherOptions;
  readonly #clock: MonotonicClock;
  readonly #stop = new AbortController();
  /** The known files. Callers may read them, and change row states with `becomes`. */
  readonly inventory = new Inventory();
  readonly #root: Root;
  readonly #claim: RootClaim | null;
  readonly #steps: MarkSteps | null;
  readonly #settler: Settler;
  readonly #refused: RefusedPaths;
  readonly #breaker: VanishBreaker;
  readonly #missing: MissingFiles;
  readonly #hints: Hints;
  readonly #reconciler: Reconciler;
  readonly #schedule: ScanSchedule;
  #begun: Promise<void> | null = null;
  #stopStallWatch: (() => void) | null = null;

  /** @param open opens the event source; by default, file system events */
  constructor(options: FolderWatcherOptions, open: OpenEvents = openEvents) {
    const { sink, logger, clock = monotonicClock, owner, roots } = options;
    const nested = options.folder.nested.map((path) => resolve(path));
    const folder = { ...options.folder, path: resolve(options.folder.path), nested };
    this.#options = options;
    this.#folder = folder;
    this.#clock = clock;
    const base = { folder, sink, inventory: this.inventory, clock, logger, signal: this.#stop.signal };
    const scanSoon = (): void => this.#schedule.soon();
    this.#claim = owner === null ? null : new RootClaim(folder.path, owner, logger, folder.isOnlyRead);
    this.#steps = owner === null ? null : new MarkSteps({ ...base, path: folder.path, owner });
    this.#root = new Root({
      ...base,
      path: folder.path,
      claim: this.#claim,
      roots,
      gap: () => this.#hints.gap,
      note: () => this.#hints.note,
      changed: (state) => this.#changed(state),
      scanSoon,
    });
    this.#settler = new Settler({
      ...base,
      folder: withQuietShares(folder, this.#root),
      writers: openWriters,
      isRootSound: () => this.#root.isSound(),
      notAFile: (path, entry) => {
        if (entry.is === 'directory') this.#hints.directory(path);
        if (entry.is === 'special') this.#refused.add(path, `it is ${entry.what}`);
        if (entry.is !== 'file' && entry.is !== 'unclear') this.#missing.suspect(path);
      },
    });
    this.#refused = new RefusedPaths(folder.path, logger);
    this.#breaker = new VanishBreaker({ ...base, root: this.#root, roots });
    this.#missing = new MissingFiles({
      ...base,
      settler: this.#settler,
      believes: async (paths, isScan) => (await this.#root.isInPlace()) && this.#breaker.believes(paths, isScan),
      scanSoon,
    });
    this.#hints = new Hints({
      ...base,
      root: this.#root,
      openEvents: open,
      leastReopenMs: Math.min(folder.rescanMs, IMPAIRED_MS),
      scanSoon,
      scanNamesSoon: () => this.#schedule.namesSoon(),
      directories: () => directories.total,
      hint: (path) => {
        if (!this.#refused.covers(path)) this.#settler.hint(path);
      },
    });
    const closed = new ClosedDirectories(base);
    this.#reconciler = new Reconciler({
      ...base,
      root: this.#root,
      claim: this.#claim,
      hints: this.#hints,
      settler: this.#settler,
      refused: this.#refused,
      missing: this.#missing,
      closed,
      directories,
    });
    this.#schedule = new ScanSchedule({
      ...base,
      interval: () => this.#scanInterval(closed.isWaiting),
      scan: async () => {
        await this.#reconciler.scan(this.#schedule);
        if (!this.#stop.signal.aborted) sink.scanned();
      },
    });
  }

  /** Looks only at the folder itself. Resolves once it is known whether the folder can be trusted. */
  begin(): Promise<void> {
    return (this.#begun ??= this.#begin());
  }

  /** Starts watching. Resolves after the first full scan, or soon after the watcher is disposed of. */
  async start(): Promise<void> {
    await this.begin();
    await this.#schedule.now();
    if (this.#stop.signal.aborted) return;
    this.#hints.open();
    this.#stopStallWatch = watchForStalls(this.#clock, (stalledMs) => {
      this.#options.logger.warn('the event loop was blocked: events may be lost, scanning', {
        folder: this.#folder.path,
        stalledMs,
      });
      this.#schedule.soon();
    });
  }

  /** Resolves after a full scan that started after the call. */
  rescan(): Promise<void> {
    return this.#schedule.now();
  }

  /**
   * Checks on disk why missing files prove nothing. Returns `null` if they do prove something.
   *
   * @param missing a path that the caller did not find and now believes gone; if its file is back, it is offered again
   */
  async whyAway(missing?: string): Promise<string | null> {
    const why = await this.#root.whyAway();
    if (why === null && missing !== undefined && (await this.#breaker.areMostMissing())) {
      this.#schedule.soon();
      return 'most of its files seem to be missing; it is being scanned';
    }
    // The folder may have been unavailable only while the caller looked.
    if (why === null && missing !== undefined) this.lookAgain(missing);
    return why;
  }

  /** Offers whatever file is at a path that the caller no longer has, even if it was offered before. */
  lookAgain(path: string): void {
    // A waiting file will be offered anyway.
    if (this.inventory.waiting.has(path)) return;
    this.#settler.forget(path);
    if (!this.#isLeftOut(path)) this.#settler.hint(path);
  }

  /** Records the version of a file that the caller has just seen, so that its removal will be noticed. */
  seen(path: string, version: FileVersion): void {
    const kind = this.#folder.accepts(path);
    if (kind !== null && !this.#isLeftOut(path)) this.#settler.seen(path, kind, version);
  }

  /**
   * Compares the folder with the ledger, which may have lost rows. As at startup, offers the files that the ledger
   * lacks.
   *
   * @returns the number of those files
   */
  async compare(): Promise<number> {
    await this.begin();
    const lost = await lostFiles(this.inventory, (tell) => this.#eachKnown(tell));
    for (const path of lost) this.lookAgain(path);
    this.#schedule.soon();
    return lost.length;
  }

  /** @param comparing paths that the caller is comparing before it decides about them */
  accounts(comparing: Iterable<string>): Accounts {
    const { ignored } = this.#reconciler;
    return accountsOf(this.inventory, { refused: this.#refused.paths, ignored, comparing });
  }

  /** Returns the number of files visited by the current scan, or by the last one. */
  visited(): number {
    return this.#reconciler.visited;
  }

  /** Schedules an update of the mark after a file was accepted or its upload began. */
  took(): void {
    this.#steps?.took();
  }

  /** Records an operator's confirmation that the folder is right and its missing files are gone, then scans it. */
  async resume(): Promise<Resumed> {
    const resumed = await this.#root.resume();
    if (resumed.ok) await this.#schedule.now();
    return resumed;
  }

  settling(): readonly SettlingFile[] {
    return this.#settler.settling();
  }

  activity(): WatchActivity {
    const isDeaf = this.#folder.watch === 'polling' || this.#hints.gap !== null;
    let lackMarkers = 0;
    for (const { lacksMarker } of this.inventory.waiting.values()) if (lacksMarker) lackMarkers += 1;
    return {
      by: isDeaf ? 'scans' : this.#hints.isPolled ? 'events and scans' : 'events',
      heardMsAgo: this.#hints.heardMsAgo,
      scans: this.#schedule.times(),
      lackMarkers,
      leftOut: this.#reconciler.leftOut,
    };
  }

  /** Returns the first `most` refused paths. */
  refused(most: number): readonly RefusedPath[] {
    return this.#refused.paths
      .entries()
      .take(most)
      .map(([path, why]) => ({ path, why }))
      .toArray();
  }

  counts(): WatchCounts {
    return countsOf(this.accounts([]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#stopStallWatch?.();
    await this.#hints[Symbol.asyncDispose]();
    await this.#schedule[Symbol.asyncDispose]();
    await this.#missing[Symbol.asyncDispose]();
    await this.#settler[Symbol.asyncDispose]();
    await this.#steps?.[Symbol.asyncDispose]();
    await this.#claim?.[Symbol.asyncDispose]();
    directories.delete(this.#folder.path);
  }

  async #begin(): Promise<void> {
    const { taken } = this.inventory;
    const devices = new Set<string>();
    const files = new Map<string, FileVersion>();
    const note = ({ path, version }: KnownFile): void => {
      devices.add(version.dev);
      if (files.size < MOST_FILES_ASKED) files.set(path, version);
    };
    await this.#eachKnown(({ path, version, state }) => {
      taken.set(path, version);
      taken.setState(path, state);
    }, note);
    await this.#root.begin(devices, files);
  }

  /** @param all also receives files that were put away, which only help to recognise the folder */
  async #eachKnown(tell: (file: KnownFile) => void, all: (file: KnownFile) => void = () => undefined): Promise<void> {
    await this.#options.known.known(this.#folder.path, (file) => {
      all(file);
      if (!this.#folder.leavesOut(dirname(file.path))) tell(file);
    });
  }

  /** Whether the path belongs to another watcher or to none. */
  #isLeftOut(path: string): boolean {
    const { path: folder, nested, leavesOut } = this.#folder;
    return nested.some((inner) => `${folder}/${path}`.startsWith(`${inner}/`)) || leavesOut(dirname(path));
  }

  #changed(state: RootState): void {
    const { sink, logger } = this.#options;
    const { path: folder } = this.#folder;
    try {
      sink.root(state);
    } catch (error) {
      logger.error('Cannot save the state of the folder', { folder, err: error });
    }
    // Files that settled while the folder was frozen are offered now instead of at their next check.
    if (state.state !== 'frozen') for (const path of this.inventory.waiting.keys()) this.#settler.hint(path);
  }

  /** @param hasClosed whether a closed directory is waiting to be reported */
  #scanInterval(hasClosed: boolean): ScanInterval {
    const { watch, rescanMs } = this.#folder;
    if (watch === 'polling' || this.#hints.isPolled) return { ms: Math.min(rescanMs, POLLING_MS), isUrgent: true };
    const isImpaired = this.#root.isFrozen || this.#hints.gap !== null || hasClosed || this.#claim?.lacksRoom === true;
    return isImpaired ? { ms: Math.min(rescanMs, IMPAIRED_MS), isUrgent: true } : { ms: rescanMs, isUrgent: false };
  }
}

/** Lengthens the settle time on shares, where the kernel caches file sizes for a few seconds. */
function withQuietShares(folder: WatchSettings, root: Root): WatchSettings {
  return {
    ...folder,
    get settleMs() {
      return root.remote === null ? folder.settleMs : folder.settleMs + CACHED_SIZE_MS;
    },
  };
}

const CACHED_SIZE_MS = 10_000;
const POLLING_MS = 5000;
/** Scan interval while the folder is unavailable or events are missing. */
const IMPAIRED_MS = 15_000;

import { dirname, resolve } from 'node:path';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Logger } from '../log/logger.ts';
import { accountsOf } from './accounts.ts';
import type { Accounts } from './ports.ts';
import { monotonicClock, watchForStalls } from './clock.ts';
import { ClosedDirectories } from './closed-directories.ts';
import type { MonotonicClock } from './clock.ts';
import { openEvents } from './events.ts';
import type { OpenEvents } from './events.ts';
import { Hints } from './hints.ts';
import { Inventory } from './inventory.ts';
import { lostFiles } from './lost-files.ts';
import { MarkSteps } from './mark-steps.ts';
import { MissingFiles } from './missing-files.ts';
import { OpenWriters } from './open-writers.ts';
import type {
  FolderWatcher,
  KnownFile,
  KnownFiles,
  RefusedPath,
  Resumed,
  RootState,
  RootStore,
  SettlingFile,
  WatchActivity,
  WatchCounts,
  WatchSink,
  WatchSettings,
} from './ports.ts';
import { Reconciler } from './reconcile.ts';
import { RefusedPaths } from './refused-paths.ts';
import { RootClaim } from './root-claim.ts';
import type { FolderClaimant } from './root-mark.ts';
import { Root } from './root.ts';
import { ScanSchedule } from './scan-schedule.ts';
import type { ScanInterval } from './scan-schedule.ts';
import { Settler } from './settler.ts';
import { VanishBreaker } from './vanish-breaker.ts';
import { WatchedDirectories } from './watch-limits.ts';

export interface WatchFolderOptions {
  readonly folder: WatchSettings;
  readonly sink: WatchSink;
  readonly known: KnownFiles;
  readonly logger: Logger;
  readonly clock?: MonotonicClock;
  /** Owner written into the mark of the folder; null: no mark. */
  readonly owner?: FolderClaimant | null;
  /** What is remembered of the folder itself; by default nothing. */
  readonly roots?: RootStore;
}

/**
 * Watches one folder: offers every complete file to the sink, once per version, and reports every file that is gone.
 *
 * Events are hints that make it fast; full scans make it right (design, section 6). A scan runs at start, every `rescanMs`, and
 * whenever events may have been lost. It lists every directory, but checks size and times of files that the sink already has only every
 * eighth time, or when scans are the only source: with 100,000 files a look at each costs a second of a core.
 * With `watch: 'polling'` there are only scans, every 5 s or `rescanMs` if that is less, taking at most a twentieth of the time.
 *
 * @param open the source of the events; those of the file system by default
 */
export function watchFolder(options: WatchFolderOptions, open: OpenEvents = openEvents): FolderWatcher {
  const folder = {
    ...options.folder,
    path: resolve(options.folder.path),
    nested: options.folder.nested.map((path) => resolve(path)),
  };
  return new Watcher(assemble({ clock: monotonicClock, owner: null, roots: noMemory, ...options, folder }, open));
}

const noMemory: RootStore = {
  load: async () => null,
  save: async () => undefined,
  expected: async (_, paths, which) => (which === 'unfinished' ? 0 : paths.length),
};

interface Parts extends Required<WatchFolderOptions> {
  readonly stop: AbortController;
  readonly inventory: Inventory;
  readonly root: Root;
  readonly claim: RootClaim | null;
  readonly steps: MarkSteps | null;
  readonly settler: Settler;
  readonly refused: RefusedPaths;
  readonly breaker: VanishBreaker;
  readonly missing: MissingFiles;
  readonly hints: Hints;
  readonly reconciler: Reconciler;
  readonly schedule: ScanSchedule;
}

/** One for the process: a pass over /proc serves all folders, and so does the limit of watches. */
const openWriters = new OpenWriters();
const directories = new WatchedDirectories();

/** Connects the parts. Nothing runs yet. */
function assemble(options: Required<WatchFolderOptions>, open: OpenEvents): Parts {
  const { folder, sink, clock, logger, roots } = options;
  const stop = new AbortController();
  const base = { folder, inventory: new Inventory(), clock, logger, signal: stop.signal };
  const claim = options.owner === null ? null : new RootClaim(folder.path, options.owner, logger, folder.isOnlyRead);
  const steps = options.owner === null ? null : new MarkSteps({ ...base, path: folder.path, owner: options.owner });
  const scanSoon = (): void => schedule.soon();
  const root: Root = new Root({
    ...base,
    path: folder.path,
    claim,
    roots,
    gap: () => hints.gap,
    note: () => hints.note,
    changed: (state) => {
      report(state, options);
      // What settled while the folder was frozen would wait for its next look.
      if (state.state !== 'frozen') for (const path of base.inventory.waiting.keys()) settler.hint(path);
    },
    scanSoon,
  });
  const settler: Settler = new Settler({
    ...base,
    folder: settling(folder, root),
    writers: openWriters,
    isRootSound: () => root.isSound(),
    complete: (file) => sink.complete(file),
    notAFile: (path, entry) => {
      if (entry.is === 'directory') hints.directory(path);
      if (entry.is === 'special') refused.add(path, `it is ${entry.what}`);
      if (entry.is !== 'file' && entry.is !== 'unclear') missing.suspect(path);
    },
  });
  const refused = new RefusedPaths(folder.path, logger);
  const breaker = new VanishBreaker({ ...base, root, roots });
  const missing: MissingFiles = new MissingFiles({
    ...base,
    folder: folder.path,
    settler,
    believes: async (paths, isScan) => (await root.isInPlace()) && breaker.believes(paths, isScan),
    scanSoon,
    gone: (path) => sink.gone(folder.path, path),
  });
  const hints: Hints = new Hints({
    ...base,
    root,
    openEvents: open,
    leastReopenMs: Math.min(folder.rescanMs, IMPAIRED_MS),
    scanSoon,
    scanNamesSoon: () => schedule.namesSoon(),
    directories: () => directories.total,
    hint: (path) => {
      if (!refused.covers(path)) settler.hint(path);
    },
  });
  const closed = new ClosedDirectories({ ...base, closed: (directory) => sink.closed(directory) });
  const leftBehind = (directory: string): Promise<void> => sink.leftBehind(folder.path, directory);
  const reconciler = new Reconciler({
    ...base,
    root,
    claim,
    hints,
    settler,
    refused,
    missing,
    leftBehind,
    closed,
    directories,
  });
  const schedule: ScanSchedule = new ScanSchedule({
    ...base,
    interval: () =>
      scanInterval(folder, {
        isImpaired: root.isFrozen || hints.gap !== null || closed.isWaiting || claim?.lacksRoom === true,
        isPolled: hints.isPolled,
      }),
    scan: async () => {
      await reconciler.scan(schedule);
      if (!stop.signal.aborted) sink.scanned(folder.path);
    },
  });
  return {
    ...options,
    ...base,
    stop,
    root,
    claim,
    steps,
    settler,
    refused,
    breaker,
    missing,
    hints,
    reconciler,
    schedule,
  };
}

/** Whether another watcher, or nobody, looks after what is at the path. */
function isOthers({ path: folder, nested, leavesOut }: WatchSettings, path: string): boolean {
  return nested.some((inner) => `${folder}/${path}`.startsWith(`${inner}/`)) || leavesOut(dirname(path));
}

function report(state: RootState, { folder, sink, logger }: WatchFolderOptions): void {
  try {
    sink.root(folder.path, state);
  } catch (error) {
    logger.error('The state of the folder could not be written', { folder: folder.path, err: error });
  }
}

/** The kernel caches file sizes on a share for a few seconds, so a file there must be quiet for longer. */
function settling(folder: WatchSettings, root: Root): WatchSettings {
  return {
    ...folder,
    get settleMs() {
      return root.remote === null ? folder.settleMs : folder.settleMs + REMEMBERED_MS;
    },
  };
}

const REMEMBERED_MS = 10_000;

function scanInterval(
  { watch, rescanMs }: WatchSettings,
  { isImpaired, isPolled }: { readonly isImpaired: boolean; readonly isPolled: boolean },
): ScanInterval {
  if (watch === 'polling' || isPolled) return { ms: Math.min(rescanMs, POLLING_MS), isUrgent: true };
  return isImpaired ? { ms: Math.min(rescanMs, IMPAIRED_MS), isUrgent: true } : { ms: rescanMs, isUrgent: false };
}

const POLLING_MS = 5000;
/** While the folder is away or events are missing. */
const IMPAIRED_MS = 15_000;

/** Known files that may tell whether the folder is the one it was. */
const ASKED_AT_START = 10_000;

/** Owns all parts: disposing of it ends their timers, watches and work. */
class Watcher implements FolderWatcher {
  readonly #parts: Parts;
  #begun: Promise<void> | null = null;
  #stopStallWatch: (() => void) | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  begin(): Promise<void> {
    return (this.#begun ??= this.#begin());
  }

  async start(): Promise<void> {
    const { folder, clock, logger, stop, hints, schedule } = this.#parts;
    await this.begin();
    await schedule.now();
    if (stop.signal.aborted) return;
    hints.open();
    this.#stopStallWatch = watchForStalls(clock, (stalledMs) => {
      logger.warn('the event loop was blocked: events may be lost, scanning', { folder: folder.path, stalledMs });
      schedule.soon();
    });
  }

  rescan(): Promise<void> {
    return this.#parts.schedule.now();
  }

  async whyAway(missing?: string): Promise<string | null> {
    const { root, breaker, schedule } = this.#parts;
    const why = await root.whyAway();
    if (why === null && missing !== undefined && (await breaker.areMostMissing())) {
      schedule.soon();
      return 'most of its files seem to be missing; it is being scanned';
    }
    // The folder may have been away only at the moment of that look.
    if (why === null && missing !== undefined) this.lookAgain(missing);
    return why;
  }

  lookAgain(path: string): void {
    const { folder, inventory, settler } = this.#parts;
    // It is about to be offered anyway.
    if (inventory.waiting.has(path)) return;
    settler.forget(path);
    if (!isOthers(folder, path)) settler.hint(path);
  }

  seen(path: string, version: FileVersion): void {
    const { folder, settler } = this.#parts;
    const kind = folder.accepts(path);
    if (kind !== null && !isOthers(folder, path)) settler.seen(path, kind, version);
  }

  async compare(): Promise<number> {
    await this.begin();
    const { inventory, schedule } = this.#parts;
    const lost = await lostFiles(inventory, (tell) => this.#tellKnown(tell));
    for (const path of lost) this.lookAgain(path);
    schedule.soon();
    return lost.length;
  }

  becomes(path: string, state: string | null): void {
    this.#parts.inventory.becomes(path, state);
  }

  accounts(comparing: Iterable<string>): Accounts {
    const { inventory, refused, reconciler } = this.#parts;
    return accountsOf(inventory, { refused: refused.paths, ignored: reconciler.ignored, comparing });
  }

  unaccounted(): readonly string[] {
    return this.#parts.inventory.unaccounted();
  }

  visited(): number {
    return this.#parts.reconciler.visited;
  }

  took(): void {
    this.#parts.steps?.took();
  }

  async resume(): Promise<Resumed> {
    const { root, schedule } = this.#parts;
    const resumed = await root.resume();
    if (resumed.ok) await schedule.now();
    return resumed;
  }

  settling(): readonly SettlingFile[] {
    return this.#parts.settler.settling();
  }

  waiting(): Iterable<Pick<SettlingFile, 'path' | 'kind'>> {
    return this.#parts.inventory.waiting.values();
  }

  activity(): WatchActivity {
    const { folder, hints, schedule, inventory, reconciler } = this.#parts;
    const isDeaf = folder.watch === 'polling' || hints.gap !== null;
    let lackMarkers = 0;
    for (const { lacksMarker } of inventory.waiting.values()) if (lacksMarker) lackMarkers += 1;
    return {
      by: isDeaf ? 'scans' : hints.isPolled ? 'events and scans' : 'events',
      heardMsAgo: hints.heardMsAgo,
      scans: schedule.times(),
      lackMarkers,
      leftOut: reconciler.leftOut,
    };
  }

  refused(most: number): readonly RefusedPath[] {
    return this.#parts.refused.paths
      .entries()
      .take(most)
      .map(([path, why]) => ({ path, why }))
      .toArray();
  }

  counts(): WatchCounts {
    const { inventory, refused, reconciler } = this.#parts;
    return inventory.counts(refused.paths, reconciler.ignored);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { folder, stop, hints, schedule, missing, settler, claim, steps } = this.#parts;
    stop.abort();
    this.#stopStallWatch?.();
    await hints[Symbol.asyncDispose]();
    await schedule[Symbol.asyncDispose]();
    await missing[Symbol.asyncDispose]();
    await settler[Symbol.asyncDispose]();
    await steps?.[Symbol.asyncDispose]();
    await claim?.[Symbol.asyncDispose]();
    directories.delete(folder.path);
  }

  async #begin(): Promise<void> {
    const { inventory, root } = this.#parts;
    const devices = new Set<string>();
    const files = new Map<string, FileVersion>();
    const note = ({ path, version }: KnownFile): void => {
      devices.add(version.dev);
      if (files.size < ASKED_AT_START) files.set(path, version);
    };
    await this.#tellKnown(({ path, version, state }) => {
      inventory.taken.set(path, version);
      inventory.taken.setState(path, state);
    }, note);
    await root.begin(devices, files);
  }

  /** @param all is told what was put away as well: it is not looked at again, and only helps to recognise the folder */
  async #tellKnown(tell: (file: KnownFile) => void, all: (file: KnownFile) => void = () => undefined): Promise<void> {
    const { folder, known } = this.#parts;
    await known.known(folder.path, (file) => {
      all(file);
      if (!folder.leavesOut(dirname(file.path))) tell(file);
    });
  }
}

import { relative, resolve, sep } from 'node:path';
import { contentKey } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Logger } from '../log/logger.ts';
import { EventGaps } from './event-gaps.ts';
import { openHints } from './hints.ts';
import type { OpenHints } from './hints.ts';
import { reportMissing } from './missing-files.ts';
import { systemClock } from './monotonic-clock.ts';
import type { MonotonicClock } from './monotonic-clock.ts';
import { errnoOf } from './observation.ts';
import type { Observation } from './observation.ts';
import { OpenWriters } from './open-writers.ts';
import { RefusedPaths } from './refused-paths.ts';
import { refusedBecause } from './refused-because.ts';
import { RootGuard } from './root-guard.ts';
import { scanFolder } from './scan.ts';
import { ScanSchedule } from './scan-schedule.ts';
import { Settler } from './settler.ts';
import type {
  FolderWatcher,
  KnownFiles,
  RefusedPath,
  RootState,
  SettlingFile,
  WatchCounts,
  WatchedFolder,
  WatchSink,
} from './sighting.ts';
import { watchForStalls } from './stall.ts';
import { isTemporaryName } from './temporary-name.ts';

export interface WatchFolderOptions {
  readonly folder: WatchedFolder;
  readonly sink: WatchSink;
  readonly known: KnownFiles;
  readonly logger: Logger;
  readonly clock?: MonotonicClock;
}

/**
 * Watches one folder: tells the sink of every complete file, once per version, and of every file that is gone.
 *
 * Events are hints that make it fast; full scans make it right (design, section 6). A scan runs at start, every `rescanMs`, and
 * whenever events may have been lost. It lists every directory, but of files that the sink has already it looks at sizes and times
 * only every eighth time, or when it is the only source: with 100,000 files a look at each costs a second of a core.
 * With `watch: 'polling'` there are only scans, every 5 s or `rescanMs` if that is less, taking at most a twentieth of the time.
 *
 * @param openEvents the source of the hints, chokidar by default
 */
export function watchFolder(options: WatchFolderOptions, openEvents: OpenHints = openHints): FolderWatcher {
  return new WatchedFolderState(options, openEvents);
}

/** One for the process: a pass over /proc serves all folders. */
const openWriters = new OpenWriters();

class WatchedFolderState implements FolderWatcher {
  readonly #folder: WatchedFolder;
  readonly #root: string;
  readonly #nested: ReadonlySet<string>;
  readonly #sink: WatchSink;
  readonly #known: KnownFiles;
  readonly #logger: Logger;
  readonly #clock: MonotonicClock;
  readonly #openEvents: OpenHints;
  readonly #guard: RootGuard;
  readonly #gaps: EventGaps;
  readonly #settler: Settler;
  readonly #refused: RefusedPaths;
  readonly #stop = new AbortController();
  readonly #scans: ScanSchedule;

  #begun: Promise<void> | null = null;
  #events: AsyncDisposable | null = null;
  #areHintsCatchingUp = false;
  #watchedDevice: string | null = null;
  /** The watches were opened before the folder was away, or while it was. */
  #areHintsOutdated = false;
  #stopStallWatch: (() => void) | null = null;
  #frozenBecause: string | null = null;
  #lastState: string | null = null;
  #rootSeenSound = { atMs: -Infinity, isSound: false };

  #ignored = 0;

  /** Paths whose end was hinted at, until they are checked together. */
  readonly #missed = new Set<string>();
  #cancelMissedCheck: (() => void) | null = null;
  #missedCheck: Promise<void> = Promise.resolve();

  constructor(options: WatchFolderOptions, openEvents: OpenHints) {
    this.#folder = options.folder;
    this.#root = resolve(options.folder.path);
    this.#nested = new Set(options.folder.nested.map((path) => resolve(path)));
    this.#sink = options.sink;
    this.#known = options.known;
    this.#logger = options.logger;
    this.#clock = options.clock ?? systemClock;
    this.#openEvents = openEvents;
    this.#guard = new RootGuard(this.#root);
    this.#gaps = new EventGaps({ clock: this.#clock, leastMs: Math.min(this.#folder.rescanMs, IMPAIRED_MS) });
    this.#refused = new RefusedPaths(this.#folder.path, this.#logger);
    this.#scans = new ScanSchedule({
      clock: this.#clock,
      signal: this.#stop.signal,
      interval: () => this.#scanInterval(),
      scan: () => this.#scan(),
    });
    this.#settler = new Settler({
      folder: this.#folder,
      clock: this.#clock,
      logger: this.#logger,
      writers: openWriters,
      isRootSound: () => this.#isRootSound(),
      complete: (file) => this.#sink.complete(file),
      notAFile: (path, observation) => this.#notAFile(path, observation),
      accepts: (path) => this.#folder.accepts(path),
    });
  }

  begin(): Promise<void> {
    return (this.#begun ??= this.#begin());
  }

  async #begin(): Promise<void> {
    const devices = await this.#recall();
    const verdict = await this.#guard.begin(devices, this.#settler.taken);
    if (verdict.isSound) this.#thaw();
    else this.#freeze(verdict.why);
    if (!this.#guard.isDoubtful) return;
    this.#logger.warn('none of the known files is in the folder and it is on another device: is it mounted?', {
      folder: this.#folder.path,
      known: this.#settler.taken.size,
    });
  }

  async start(): Promise<void> {
    await this.begin();
    await this.#scans.now();
    if (this.#stop.signal.aborted) return;
    this.#openHints();
    this.#stopStallWatch = watchForStalls(this.#clock, (stalledMs) => {
      this.#logger.warn('the program stood still, events may be lost', { folder: this.#folder.path, stalledMs });
      this.#scans.soon();
    });
  }

  rescan(): Promise<void> {
    return this.#scans.now();
  }

  async whyAway(missing?: string): Promise<string | null> {
    const why = await this.#whyAway();
    if (why !== null || missing === undefined) return why;
    // The folder may have been away only for the moment in which the file was looked for: look, and offer it anew.
    this.#settler.forget(missing);
    this.#settler.hint(missing);
    return null;
  }

  settling(): readonly SettlingFile[] {
    return this.#settler.settling();
  }

  firstRefused(): RefusedPath | null {
    const [first] = this.#refused.paths;
    return first === undefined ? null : { path: first[0], why: first[1] };
  }

  counts(): WatchCounts {
    const { taken, waiting } = this.#settler;
    const refused = this.#refused.paths;
    const both = [...waiting.keys()].filter((path) => taken.has(path) && !refused.has(path)).length;
    const replaced = [...refused.keys()].filter((path) => taken.has(path)).length;
    const buckets = {
      settling: waiting.size,
      offered: taken.size - both - replaced,
      ignored: this.#ignored,
      refused: refused.size,
    };
    return { ...buckets, seen: buckets.settling + buckets.offered + buckets.ignored + buckets.refused };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#cancelMissedCheck?.();
    this.#stopStallWatch?.();
    await this.#closeHints();
    await this.#scans.close();
    await this.#missedCheck;
    await this.#settler.close();
  }

  /** Takes over what the ledger has, and returns the devices it was on. */
  async #recall(): Promise<ReadonlySet<string>> {
    const devices = new Set<string>();
    for (const { path, version } of await this.#known.known(this.#folder.path)) {
      this.#settler.rememberKey(path, contentKey(version));
      devices.add(version.dev);
    }
    return devices;
  }

  // ---- scans

  async #scan(): Promise<void> {
    try {
      const verdict = await this.#guard.check(this.#settler.taken);
      if (!verdict.isSound) {
        this.#freeze(verdict.why);
        return;
      }
      await this.#walk();
      await this.#renewHints();
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#scanFailed(error);
    }
  }

  async #walk(): Promise<void> {
    if (this.#frozenBecause !== null) this.#scans.wantDeep();
    const depth = this.#scans.takeDepth(this.#isScanTheOnlySource());
    const { taken, waiting } = this.#settler;
    const before = new Set([...taken.keys(), ...waiting.keys()]);
    const refused = this.#refused.beginScan();
    let ignored = 0;
    await scanFolder(
      this.#root,
      {
        entered: () => this.#thaw(),
        entersDirectory: (path) => !this.#nested.has(path),
        file: (path) => {
          before.delete(path);
          if (taken.has(path) && !waiting.has(path)) return depth === 'deep' ? 'look' : 'seen';
          return this.#folder.accepts(path) === null ? 'ignore' : 'look';
        },
        sighted: (path, version) => this.#sighted(path, version),
        refused: (path, why) => refused.add(path, why),
        ignored: () => (ignored += 1),
      },
      this.#stop.signal,
    );
    refused.end();
    this.#ignored = ignored;
    await this.#reportMissing(before);
  }

  #sighted(path: string, version: FileVersion): void {
    const kind = this.#folder.accepts(path);
    if (kind !== null) this.#settler.sighted(path, kind, version);
  }

  #scanFailed(error: unknown): void {
    this.#scans.wantDeep();
    this.#logger.debug('the scan failed', { folder: this.#folder.path, err: error });
    this.#freeze(refusedBecause('it cannot be read', errnoOf(error)));
  }

  #scanInterval(): { readonly ms: number; readonly isUrgent: boolean } {
    const { watch, rescanMs } = this.#folder;
    if (watch === 'polling') return { ms: Math.min(rescanMs, POLLING_MS), isUrgent: true };
    const isImpaired = this.#frozenBecause !== null || this.#gaps.why !== null;
    return isImpaired ? { ms: Math.min(rescanMs, IMPAIRED_MS), isUrgent: true } : { ms: rescanMs, isUrgent: false };
  }

  #isScanTheOnlySource(): boolean {
    return this.#folder.watch === 'polling' || this.#gaps.why !== null;
  }

  // ---- the root

  /** A recent answer is enough for the many offers of a burst. */
  async #isRootSound(): Promise<boolean> {
    if (this.#clock.now() - this.#rootSeenSound.atMs < ROOT_ANSWER_VALID_MS) return this.#rootSeenSound.isSound;
    if (this.#frozenBecause !== null) return false;
    const verdict = await this.#guard.check(this.#settler.taken);
    if (!verdict.isSound) this.#lose(verdict.why);
    this.#rootSeenSound = { atMs: this.#clock.now(), isSound: verdict.isSound };
    return verdict.isSound;
  }

  #thaw(): void {
    this.#frozenBecause = null;
    this.#tellState();
  }

  #freeze(why: string): void {
    this.#rootSeenSound = { atMs: -Infinity, isSound: false };
    this.#areHintsOutdated = true;
    this.#frozenBecause = why;
    this.#tellState();
  }

  /** Found away between two scans: the next one is soon, and so are those after it while it stays away. */
  #lose(why: string): void {
    this.#freeze(why);
    this.#scans.soon();
  }

  #tellState(): void {
    const state = this.#state();
    const text = JSON.stringify(state);
    if (text === this.#lastState) return;
    this.#lastState = text;
    const level = state.state === 'watching' ? 'info' : 'warn';
    this.#logger[level]('folder state', { folder: this.#folder.path, ...state });
    try {
      this.#sink.root(this.#folder.path, state);
    } catch (error) {
      this.#logger.error('the folder state was not taken', { folder: this.#folder.path, err: error });
    }
  }

  #state(): RootState {
    if (this.#frozenBecause !== null) return { state: 'frozen', why: this.#frozenBecause };
    if (this.#gaps.why !== null) return { state: 'degraded', why: this.#gaps.why };
    return { state: 'watching' };
  }

  // ---- hints

  #openHints(): void {
    if (this.#folder.watch === 'polling' || this.#stop.signal.aborted) return;
    this.#areHintsCatchingUp = true;
    this.#areHintsOutdated = this.#frozenBecause !== null;
    this.#watchedDevice = this.#guard.device;
    this.#gaps.opened();
    this.#events = this.#openEvents({
      root: this.#root,
      backend: this.#folder.watch,
      leavesOut: (path) => this.#leavesOut(path),
      onHint: (event, path) => this.#hinted(event, path),
      onTrouble: (code, path) => this.#eventsFailed(code, path === undefined ? null : this.#pathOf(path)),
      onCaughtUp: () => {
        this.#areHintsCatchingUp = false;
        if (!this.#areHintsOutdated) this.#gaps.caughtUp();
        this.#tellState();
        this.#scans.soon();
      },
    });
  }

  /**
   * Only after a scan that went well, as at the start: opening them asks for a scan, and if one that fails opened them again,
   * that would never end.
   */
  async #renewHints(): Promise<void> {
    if (this.#events === null || this.#frozenBecause !== null) return;
    // The watches are on the directories that were there before; a mount over them is not noticed.
    const isOutdated = this.#areHintsOutdated || this.#watchedDevice !== this.#guard.device;
    if (!isOutdated && !this.#gaps.isWorthOpening((path) => this.#refused.paths.has(path))) return;
    await this.#closeHints();
    this.#openHints();
  }

  async #closeHints(): Promise<void> {
    const events = this.#events;
    this.#events = null;
    await events?.[Symbol.asyncDispose]();
  }

  #leavesOut(absolutePath: string): boolean {
    const path = this.#pathOf(absolutePath);
    return path !== '' && (isTemporaryName(path) || this.#nested.has(absolutePath));
  }

  #hinted(event: 'add' | 'change' | 'unlink', absolutePath: string): void {
    const path = this.#pathOf(absolutePath);
    if (path === '') this.#scans.soon();
    if (path === '' || this.#frozenBecause !== null || this.#leavesOut(absolutePath)) return;
    const { taken, waiting } = this.#settler;
    const isKnown = taken.has(path) || waiting.has(path);
    // While it starts, chokidar tells of every file that is there: 100,000 looks for nothing. A deep scan follows.
    if (event === 'add' && isKnown && this.#areHintsCatchingUp) return;
    if (isKnown || this.#folder.accepts(path) !== null) this.#settler.hint(path);
  }

  #pathOf(absolutePath: string): string {
    const path = relative(this.#root, absolutePath);
    return sep === '/' ? path : path.replaceAll(sep, '/');
  }

  #eventsFailed(code: string, path: string | null): void {
    // What is wrong with the whole folder says nothing of its directories; once it is back, the watches are opened anew.
    const isTold = !this.#areHintsOutdated && this.#gaps.failed(code, path);
    if (isTold) this.#tellState();
    else this.#logger.debug('the watcher reports trouble', { folder: this.#folder.path, path, code });
    this.#scans.soon();
  }

  // ---- what is no longer there

  #notAFile(path: string, observation: Observation): void {
    if (observation.is === 'special') this.#refused.add(path, `it is ${observation.what}`);
    if (observation.is !== 'missing' || !this.#settler.taken.has(path)) return;
    this.#missed.add(path);
    this.#cancelMissedCheck ??= this.#clock.after(MISSED_GRACE_MS, () => {
      this.#cancelMissedCheck = null;
      const paths = [...this.#missed];
      this.#missed.clear();
      this.#missedCheck = this.#missedCheck.then(() => this.#reportMissing(paths));
    });
  }

  async #reportMissing(paths: Iterable<string>): Promise<void> {
    await reportMissing(paths, {
      folder: this.#folder.path,
      settler: this.#settler,
      logger: this.#logger,
      provesAbsence: async () => (await this.#whyAway()) === null,
      gone: (path) => this.#sink.gone(this.#folder.path, path),
    });
  }

  /** Why a file that is not found is not believed to be gone, or null. */
  async #whyAway(): Promise<string | null> {
    if (this.#stop.signal.aborted) return 'it is not watched at present';
    if (this.#guard.isDoubtful) return 'none of the known files is in it, and it is on another device than they were';
    const verdict = await this.#guard.check(this.#settler.taken);
    if (verdict.isSound && this.#frozenBecause === null) return null;
    // The scan looks at the root again, soon if it stays away, and opens the watches anew once it is back.
    if (verdict.isSound) this.#scans.soon();
    else this.#lose(verdict.why);
    return this.#frozenBecause;
  }
}

const POLLING_MS = 5000;
/** While the root is away or events are missing. */
const IMPAIRED_MS = 15_000;
const ROOT_ANSWER_VALID_MS = 500;
/** Time for the other half of a rename to be told. */
const MISSED_GRACE_MS = 1000;

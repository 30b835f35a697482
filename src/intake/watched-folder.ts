import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log/logger.ts';
import { unlessHung } from '../unless-hung.ts';
import type { FolderConfig } from '../config/config.ts';
import { isThere } from '../disk/local-files.ts';
import type { LedgerView } from '../ledger/view.ts';
import type { Events } from '../pipeline/events.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import type { Accounts } from '../watch/ports.ts';
import type { FirstStartStore } from '../pipeline/file/ports.ts';
import { emptyFlaw, isTakenIn } from '../watch/completeness.ts';
import { NotNowError } from '../watch/ports.ts';
import type {
  FolderWatcher,
  RefusedPath,
  Resumed,
  RootState,
  RootStore,
  SettlingFile,
  WatchActivity,
  WatchCounts,
  WatchSettings,
} from '../watch/ports.ts';
import type { FolderClaimant } from '../watch/root-mark.ts';
import type { LeftOut } from '../watch/left-out.ts';
import { watchFolder } from '../watch/watcher.ts';
import { FirstStart } from './first-start.ts';
import { FolderIntake } from './folder-intake.ts';
import type { FolderIntakeWorld } from './folder-intake.ts';
import { createRouter } from './folder-router.ts';
import type { FolderRouter } from './folder-router.ts';
import type { LeftBehind } from './left-behind.ts';
import { recordedIn, whyNotOlder } from './older-ledger.ts';
import type { DoubtRows } from './older-ledger.ts';
import type { LoneSidecarsView } from './lone-sidecars.ts';
import type { StoppedFiles } from './stopped-files.ts';

export interface FolderStatus {
  readonly path: string;
  readonly state: 'starting' | 'watching' | 'scanning' | 'frozen';
  readonly why: string | null;
  /** Every path in the folder is in exactly one of these. */
  readonly paths: WatchCounts;
  readonly accounts: Accounts;
  /** The first of those that are refused. */
  readonly refused: RefusedPath | null;
  /** The first hundred of them. */
  readonly refused_paths: readonly RefusedPath[];
  /** Files that `include` does not select. */
  readonly left_out: LeftOut;
  /** What finds files. */
  readonly by: WatchActivity['by'];
  /** Epoch milliseconds; null: no event came since the start. */
  readonly last_event_at: number | null;
  /** The end of the last scan, how long it took, and when the next one comes; null: none ended, none is planned. */
  readonly last_scan_at: number | null;
  readonly last_scan_ms: number | null;
  readonly next_scan_at: number | null;
  readonly is_scanning: boolean;
  /** Name of the file that says that another one is complete; null: none is waited for. */
  readonly done_marker: string | null;
  /** Files that wait for theirs. */
  readonly without_marker: number;
  /** Files that look like sidecars, and are next to no video of their name. */
  readonly lone_sidecars: LoneSidecarsView;
}

/** In a status. */
const mostRefused = 100;

export interface FolderWorld extends Omit<FolderIntakeWorld, 'stands'> {
  readonly ledger: FolderIntakeWorld['ledger'] & Pick<LedgerView, 'known'> & FirstStartStore;
  /** What is remembered of the folders themselves. */
  readonly roots: RootStore;
  readonly logger: Logger;
  /** Owner written into the marks of the folders; null: no marks. */
  readonly owner: FolderClaimant | null;
  readonly leftBehind: LeftBehind;
  readonly stoppedFiles: StoppedFiles;
  readonly doubtRows: DoubtRows;
}

export interface FolderPlace {
  readonly folder: FolderConfig;
  /** Absolute paths of watched folders inside this one. */
  readonly nested: readonly string[];
  /** Templates of `after_ready: move` by which files of it were moved before. */
  readonly movedBy: readonly string[];
}

/** One watched folder: its rules, its watcher, its state. */
export class WatchedFolder implements AsyncDisposable {
  readonly router: FolderRouter;
  readonly intake: FolderIntake;
  readonly watcher: FolderWatcher;
  readonly #events: Events;
  readonly #logger: Logger;
  readonly #first: FirstStart;
  readonly #stoppedFiles: StoppedFiles;
  readonly #doubtRows: DoubtRows;
  #state: RootState | null = null;
  #isScanned = false;
  #isClosed = false;
  /** How often it was away. */
  #freezes = 0;
  /** Decides about the files that were there before, once the folder is there. */
  #deciding: Promise<void> | null = null;
  #decideAgain: NodeJS.Timeout | null = null;
  #lookingAtStopped: Promise<void> | null = null;

  constructor({ folder, nested, movedBy }: FolderPlace, world: FolderWorld) {
    const { path, settleMs, rescanMs, watch, afterReady } = folder;
    const isOnlyRead = afterReady.kind === 'keep';
    this.#events = world.events;
    this.#logger = world.logger;
    this.#stoppedFiles = world.stoppedFiles;
    this.#doubtRows = world.doubtRows;
    this.router = createRouter(folder, movedBy);
    this.#first = new FirstStart(folder, world.ledger);
    this.intake = new FolderIntake(this.router, this.#first, {
      ...world,
      stands: (facts) => this.watcher.becomes(facts.path, stateOf(facts)),
    });
    this.watcher = watchFolder({
      folder: { path, settleMs, rescanMs, watch, nested, isOnlyRead, ...this.#selection() },
      sink: {
        complete: (file) => this.intake.complete(file),
        gone: (_, name) => this.intake.gone(name),
        leftBehind: world.leftBehind,
        closed: (directory) => this.intake.closed(directory),
        scanned: () => this.#scanned(),
        root: (_, state) => this.#changed(state),
      },
      known: world.ledger,
      logger: world.logger,
      owner: world.owner,
      roots: world.roots,
    });
  }

  get path(): string {
    return this.router.folder.path;
  }

  get isFrozen(): boolean {
    return this.#state?.state === 'frozen';
  }

  get whyFrozen(): string | null {
    return this.#state?.state === 'frozen' ? this.#state.why : null;
  }

  get #isBehind(): boolean {
    return this.#state?.state === 'frozen' && this.#state.isBehind === true;
  }

  /** Why nothing of it may be sent, moved or deleted: another dropcast has it, or its file system does not answer. Or null. */
  get whyOffLimits(): string | null {
    return this.#state?.state === 'frozen' && this.#state.isOffLimits === true ? this.#state.why : null;
  }

  /** Nothing is left that was there before and waits to be adopted. A folder that never was there has nothing yet. */
  get isArchiveSeen(): boolean {
    return this.router.folder.existing !== 'adopt' || this.isFrozen || this.#first.isOver;
  }

  /** The first full scan is under way. A folder that is away is not scanned. */
  get isUnscanned(): boolean {
    return !this.#isScanned && !this.isFrozen;
  }

  /** Resolves when it is known whether the folder is there. One that does not answer in time leaves that to its first scan. */
  async begin(): Promise<void> {
    await unlessHung(this.watcher.begin());
    if (this.isFrozen) await this.#first.wait();
    else if (this.#state !== null) await this.#first.begin();
  }

  async firstScan(): Promise<void> {
    this.#decideSoon(async () => {
      await this.watcher.start();
      this.#isScanned = true;
    });
    await this.#deciding;
  }

  /** Gives every file that was there before its row, without waiting until it settled. Only then the first start is over. */
  async #decide(scan: () => Promise<void>): Promise<void> {
    const freezes = this.#freezes;
    await scan();
    if (this.isFrozen || this.#isClosed || (await this.#first.begin()).isOver) return;
    const files = this.watcher.settling().filter(({ kind }) => kind !== 'sidecar');
    let left = 0;
    await eachOf(files, async (file) => {
      if (!this.#isClosed && (await this.#takeFromBefore(file))) left += 1;
    });
    if (this.#isClosed) return;
    // It was away meanwhile: what was not seen, or was gone with it, has no row yet.
    if (this.#freezes !== freezes) return this.#decide(() => this.watcher.rescan());
    await this.#first.end();
    const { path, existing } = this.router.folder;
    if (left > 0)
      this.#logger.info('Ignoring files that existed before dropcast watched the folder', {
        folder: path,
        existing,
        files: left,
      });
  }

  /** @returns whether it was there before */
  async #takeFromBefore({ path, kind, version }: SettlingFile): Promise<boolean> {
    if ((await this.#first.leaving(path, version)) === null) return false;
    const flaw = version.size === 0 && kind !== 'proof' ? emptyFlaw : null;
    const file = { folder: this.path, path, kind, version, flaw };
    try {
      // The watcher may offer it at this moment.
      while ((await this.intake.take(file)) === 'busy' && !this.#isClosed) await delay(busyMs);
      return true;
    } catch (error) {
      if (error instanceof NotNowError) return false;
      throw error;
    }
  }

  /** An operator says that all is as it should be, though the folder is frozen. */
  async resume(): Promise<Resumed> {
    if (this.#isBehind) {
      await this.#first.doNotAdopt();
      await this.#doubtRows(this.path, false);
    }
    return this.watcher.resume();
  }

  /** An operator says that all files in the folder were uploaded, though the ledger, an older copy, does not know them. */
  async adopt(): Promise<Resumed> {
    if (!this.#isBehind) return { ok: false, why: whyNotOlder(this.path) };
    await this.#first.adopt();
    await this.#doubtRows(this.path, true);
    const resumed = await this.watcher.resume();
    return resumed.ok ? { ok: true, what: recordedIn(this.path) } : resumed;
  }

  /** Whether a sidecar still has a video or link that is there, known or about to be. */
  async isSidecarUsed(sidecarPath: string): Promise<boolean> {
    const stems = this.router.stemsOf(sidecarPath);
    // The beginning first: asking the rules about each of 100,000 files takes a second.
    const isIts = (path: string): boolean =>
      stems.some((stem) => path.startsWith(stem)) && this.router.isSidecarOf(path, sidecarPath);
    const settling = Array.from(this.watcher.waiting(), ({ path }) => path).filter(isIts);
    const paths = [...(await this.intake.namedLike(sidecarPath)), ...settling];
    for (const path of new Set(paths)) if (await isThere(this.path, path)) return true;
    return false;
  }

  /** It counts as watched only once all of it was seen. */
  status(): FolderStatus {
    const known = {
      path: this.path,
      paths: this.watcher.counts(),
      accounts: this.accounts(),
      ...this.#activity(),
    };
    const state = this.#state;
    if (this.isUnscanned) return { ...known, state: 'starting', why: this.#whyStarting() };
    return { ...known, state: state?.state ?? 'starting', why: state !== null && 'why' in state ? state.why : null };
  }

  #activity(): Omit<FolderStatus, 'path' | 'state' | 'why' | 'paths' | 'accounts'> {
    const { by, heardMsAgo, scans, lackMarkers, leftOut } = this.watcher.activity();
    const now = Date.now();
    const refused = this.watcher.refused(mostRefused);
    const ago = (ms: number | null): number | null => (ms === null ? null : Math.round(now - ms));
    return {
      refused: refused[0] ?? null,
      refused_paths: refused,
      left_out: leftOut,
      by,
      last_event_at: ago(heardMsAgo),
      last_scan_at: ago(scans.endedMsAgo),
      last_scan_ms: scans.tookMs === null ? null : Math.round(scans.tookMs),
      next_scan_at: scans.nextInMs === null ? null : Math.round(now + scans.nextInMs),
      is_scanning: scans.isScanning,
      done_marker: this.router.folder.doneMarker,
      without_marker: lackMarkers,
      lone_sidecars: this.intake.loneSidecars(this.#waitingVideos()),
    };
  }

  *#waitingVideos(): Generator<string> {
    for (const { path, kind } of this.watcher.waiting()) if (isTakenIn(kind)) yield path;
  }

  accounts(): Accounts {
    return this.watcher.accounts(this.intake.unread().map(({ path }) => path));
  }

  /** The videos and links that settle or are compared; what lies beside a video counts with it. */
  settling(): readonly SettlingFile[] {
    const settling = this.watcher.settling().filter(({ kind }) => isTakenIn(kind));
    const settlingPaths = new Set(settling.map(({ path }) => path));
    const unread = this.intake.unread().filter(({ path }) => !settlingPaths.has(path));
    return [
      ...settling,
      ...unread.map((file) => ({ ...file, size: file.version.size, why: whyCompared, lacksMarker: false })),
    ];
  }

  /** How many `settling` tells. */
  countSettling(): number {
    const unread = new Set(this.intake.unread().map(({ path }) => path));
    let count = unread.size;
    for (const { path, kind } of this.watcher.waiting()) if (isTakenIn(kind) && !unread.has(path)) count += 1;
    return count;
  }

  /** Whether anything may still come in without further events, sidecars too. A missing marker is such an event. */
  isSettling(): boolean {
    const isMoving = this.watcher.settling().some(({ lacksMarker }) => !lacksMarker);
    return isMoving || this.intake.unread().length > 0 || this.#deciding !== null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#decideAgain !== null) clearTimeout(this.#decideAgain);
    await this.watcher[Symbol.asyncDispose]();
    await this.intake[Symbol.asyncDispose]();
    await this.#deciding;
    await unlessHung(this.#lookingAtStopped ?? Promise.resolve());
  }

  /** The folder is there: perhaps for the first time. */
  #decideSoon(scan = (): Promise<void> => this.watcher.rescan()): void {
    this.#deciding ??= this.#decide(scan)
      .catch((error: unknown) => {
        this.#logger.error('The first scan failed; trying again soon', { folder: this.path, err: error });
        this.#decideAgain = setTimeout(() => this.#decideSoon(), retryMs).unref();
      })
      .finally(() => (this.#deciding = null));
  }

  #selection(): Pick<WatchSettings, 'accepts' | 'isExcluded' | 'markerOf' | 'leavesOut'> {
    const { router } = this;
    return {
      accepts: (path) => router.accepts(path),
      isExcluded: (path) => router.isExcluded(path),
      markerOf: (path) => router.markerOf(path),
      leavesOut: (directory) => router.leavesOut(directory),
    };
  }

  #whyStarting(): string {
    const known = this.watcher.counts().offered;
    const progress = known === 0 ? '' : `: ${this.watcher.visited()} found, ${known} known`;
    return `scanning all of its files for the first time${progress}`;
  }

  #scanned(): void {
    this.#requireAccounts();
    if (this.isFrozen) return;
    this.#lookingAtStopped ??= this.#stoppedFiles(this.path)
      .then((readable) => {
        for (const path of readable) this.watcher.lookAgain(path);
      })
      .catch((err: unknown) =>
        this.#logger.debug('Files that wait for the disk cannot be looked at', { folder: this.path, err }),
      )
      .finally(() => (this.#lookingAtStopped = null));
  }

  /** A file that was taken in and that nothing stands for would be lost without a word. */
  #requireAccounts(): void {
    const lost = this.watcher.unaccounted();
    const [path] = lost;
    if (path === undefined) return;
    this.#logger.error('Lost track of files; rescanning them (this is a bug)', {
      folder: this.path,
      path,
      count: lost.length,
    });
    for (const each of lost) this.watcher.lookAgain(each);
  }

  #changed(state: RootState): void {
    const wasFrozen = this.isFrozen;
    this.#state = state;
    if (this.isFrozen) this.#freezes += 1;
    else if (wasFrozen && this.#isScanned) this.#decideSoon();
    const why = 'why' in state ? state.why : null;
    this.#events.emit({ type: 'folder', folder: this.path, state: state.state, why });
  }
}

/** Files whose rows are written at the same time. */
const atOnce = 16;
const busyMs = 50;
const retryMs = 30_000;

async function eachOf<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async (): Promise<void> => {
    for (const item of left) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const whyCompared = 'touched: it is being compared with what was sent';

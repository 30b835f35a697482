import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FolderConfig } from '../config/config.ts';
import { isThere } from '../disk/local-files.ts';
import type { LedgerView } from '../ledger/view.ts';
import type { Logger } from '../log/logger.ts';
import type { Events } from '../pipeline/events.ts';
import { isGivenUp, stateOf } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { isSameVersion } from '../pipeline/file/file-version.ts';
import type { FirstStartStore, IntakeStore } from '../pipeline/file/ports.ts';
import { unlessHung } from '../unless-hung.ts';
import { emptyFlaw } from '../watch/completeness.ts';
import { lookAt } from '../watch/path-entry.ts';
import { NotNowError, isTakenIn } from '../watch/ports.ts';
import type {
  ClosedDirectory,
  CompleteFile,
  FrozenRoot,
  Resumed,
  RootState,
  RootStore,
  SettlingFile,
  WatchSink,
} from '../watch/ports.ts';
import type { FolderClaimant } from '../watch/root-mark.ts';
import { FolderWatcher } from '../watch/watcher.ts';
import { arrivalOf, routeOf } from './arrival.ts';
import type { Arrival } from './arrival.ts';
import { createComparisons } from './comparisons.ts';
import { createFirstStart, recordedIn, whyNotOlder } from './first-start.ts';
import type { DoubtRows, FirstStart } from './first-start.ts';
import { createRouter, videosNamedLike } from './folder-router.ts';
import type { FolderRouter } from './folder-router.ts';
import { countVideosSettling, folderStatus, videosSettling, createLoneSidecars } from './folder-status.ts';
import type { FolderStatus } from './folder-status.ts';
import type { Accepted, Intake } from './intake.ts';
import type { LeftBehind, StoppedFiles } from './stopped-files.ts';

export interface FolderWorld {
  readonly intake: Intake;
  readonly ledger: Pick<IntakeStore, 'atPath' | 'pathsNamed'> & Pick<LedgerView, 'known'> & FirstStartStore;
  readonly events: Events;
  readonly logger: Logger;
  /** Store for folder records. */
  readonly roots: RootStore;
  /** Owner to write into the folders' marks; null for no marks. */
  readonly owner: FolderClaimant | null;
  readonly leftBehind: LeftBehind;
  readonly stoppedFiles: StoppedFiles;
  readonly doubtRows: DoubtRows;
  /** Called when the intake of a file fails, because of a bug or because the machine is at its limits. */
  readonly broke: (error: unknown) => void;
  /** Called when a file has been accepted or its route has changed. */
  readonly tookIn: () => void;
}

export interface FolderSetup {
  readonly folder: FolderConfig;
  /** Absolute paths of watched folders inside this one. */
  readonly nested: readonly string[];
  /** Templates of `after_ready: move` with which files in the folder were moved before. */
  readonly movedBy: readonly string[];
}

/** Asks the watcher to offer the file again, because a step is holding its row. */
class BusyError extends NotNowError {
  override readonly name = 'BusyError';
}

/** Asks the watcher to check again, because the file or its folder is gone. */
class AwayError extends NotNowError {
  override readonly name = 'AwayError';
}

/** One watched folder: its rules, watcher and state, and the intake of its files (complete file → route → row). */
export class WatchedFolder implements WatchSink, AsyncDisposable {
  readonly path: string;
  readonly router: FolderRouter;
  readonly watcher: FolderWatcher;
  readonly #world: FolderWorld;
  readonly #first: FirstStart;
  readonly #comparisons: ReturnType<typeof createComparisons>;
  readonly #lone = createLoneSidecars();
  #state: RootState | null = null;
  #isScanned = false;
  #isClosed = false;
  #freezes = 0;
  /** The decision about files that existed before, while it is in progress. */
  #deciding: Promise<void> | null = null;
  #decideAgain: NodeJS.Timeout | null = null;
  #lookingAtStopped: Promise<void> | null = null;

  constructor({ folder, nested, movedBy }: FolderSetup, world: FolderWorld) {
    const { ledger: known, logger, owner, roots } = world;
    this.path = folder.path;
    this.#world = world;
    this.router = createRouter(folder, movedBy);
    this.#first = createFirstStart(folder, world.ledger);
    this.#comparisons = createComparisons({ logger, compare: (file, signal) => this.#compare(file, signal) });
    const settings = this.router.watchSettings(nested);
    this.watcher = new FolderWatcher({ folder: settings, sink: this, known, logger, owner, roots });
  }

  get frozen(): FrozenRoot | null {
    return this.#state?.state === 'frozen' ? this.#state : null;
  }

  /** Whether no earlier file is waiting to be adopted. A folder that was never there has none yet. */
  get isArchiveSeen(): boolean {
    return this.router.folder.existing !== 'adopt' || this.frozen !== null || this.#first.isOver();
  }

  /** Whether the first full scan has yet to finish. False for an unavailable folder, which is not scanned. */
  get isUnscanned(): boolean {
    return !this.#isScanned && this.frozen === null;
  }

  /** Resolves once it is known whether the folder is there. If it does not respond in time, the first scan decides. */
  async begin(): Promise<void> {
    await unlessHung(this.watcher.begin());
    if (this.frozen !== null) await this.#first.wait();
    else if (this.#state !== null) await this.#first.begin();
  }

  async firstScan(): Promise<void> {
    this.#decideSoon(async () => {
      await this.watcher.start();
      this.#isScanned = true;
    });
    await this.#deciding;
  }

  /** Accepts a file from the watcher. @throws {BusyError} @throws {AwayError} and ledger errors: offer it again */
  async complete(file: CompleteFile): Promise<void> {
    if (file.kind === 'proof') return this.#proofChanged(file.path);
    if (file.kind === 'sidecar') {
      await this.#sidecarChanged(file.path);
      // If the folder is unavailable, no video is found for the sidecar, but that proves nothing.
      if (!(await isThere(file.folder, file.path))) throw new AwayError(file.path);
    } else if ((await this.take(file)) === 'busy') throw new BusyError(file.path);
  }

  /** Records a file that the watcher misses. @throws {BusyError} and ledger errors: report it again */
  async gone(path: string): Promise<void> {
    const kind = this.router.accepts(path);
    if (kind === 'proof') return this.#proofChanged(path);
    if (kind === 'sidecar') {
      await this.#sidecarChanged(path);
      this.#lone.delete(path);
    } else if ((await this.#world.intake.gone(this.path, path)) === 'busy') throw new BusyError(path);
  }

  /** Records a directory that the watcher may not open. @throws ledger errors: report it again */
  async closed(directory: ClosedDirectory): Promise<void> {
    await this.#world.intake.closed(directory, this.router.folder);
    this.#world.tookIn();
  }

  leftBehind(directory: string): Promise<void> {
    return this.#world.leftBehind(this.path, directory);
  }

  scanned(): void {
    this.#requireAccounts();
    if (this.frozen !== null) return;
    const { logger, stoppedFiles } = this.#world;
    this.#lookingAtStopped ??= stoppedFiles(this.path)
      .then((readable) => {
        for (const path of readable) this.watcher.lookAgain(path);
      })
      .catch((err: unknown) => logger.debug('Cannot check files that wait for the disk', { folder: this.path, err }))
      .finally(() => (this.#lookingAtStopped = null));
  }

  root(state: RootState): void {
    const wasFrozen = this.frozen !== null;
    this.#state = state;
    if (state.state === 'frozen') this.#freezes += 1;
    else if (wasFrozen && this.#isScanned) this.#decideSoon();
    const why = 'why' in state ? state.why : null;
    this.#world.events.emit({ type: 'folder', folder: this.path, state: state.state, why });
  }

  /**
   * Accepts a file. `unread`: its content is compared later.
   *
   * @param isWanted whether a person asked for it
   * @throws {AwayError} and ledger errors
   */
  async take(file: CompleteFile, isWanted = false): Promise<Accepted> {
    const arrival = await arrivalOf(this.router, file, { first: this.#first, isWanted });
    if (arrival === null) throw new AwayError(file.path);
    this.#lone.matched(file.path);
    const accepted = await this.#note(arrival, this.#world.intake.accept(arrival));
    if (accepted === 'unread') this.#comparisons.add(file);
    if (accepted !== 'new') await this.#reportState(file);
    return accepted;
  }

  /** Applies the rules and the sidecar to a known file again. Returns null if the file or its folder is missing. */
  async reroute(facts: Facts): Promise<Accepted | null> {
    const route = await routeOf(this.router, facts);
    if (route === null) return null;
    const accepted = await this.#world.intake.reroute(facts, route);
    if (accepted === 'rerouted') this.#world.tookIn();
    return accepted;
  }

  /** Resumes a frozen folder, after an operator confirmed its state. */
  async resume(): Promise<Resumed> {
    if (this.frozen?.isBehind === true) {
      await this.#first.doNotAdopt();
      await this.#world.doubtRows(this.path, false);
    }
    return this.watcher.resume();
  }

  /**
   * Records all files in the folder as uploaded, after an operator confirmed it. The older ledger does not know them.
   */
  async adopt(): Promise<Resumed> {
    if (this.frozen?.isBehind !== true) return { ok: false, why: whyNotOlder(this.path) };
    await this.#first.adopt();
    await this.#world.doubtRows(this.path, true);
    const resumed = await this.watcher.resume();
    return resumed.ok ? { ok: true, what: recordedIn(this.path) } : resumed;
  }

  /** Whether a sidecar still has a video or link on disk, known or settling. */
  async isSidecarUsed(sidecarPath: string): Promise<boolean> {
    const stems = this.router.stemsOf(sidecarPath);
    // Tests prefixes first, because applying the rules to 100,000 files takes a second.
    const isIts = (path: string): boolean =>
      stems.some((stem) => path.startsWith(stem)) && this.router.isSidecarOf(path, sidecarPath);
    const settling = Array.from(this.watcher.inventory.waiting.values(), ({ path }) => path).filter(isIts);
    const paths = [...(await this.#videosOf(sidecarPath)), ...settling];
    for (const path of new Set(paths)) if (await isThere(this.path, path)) return true;
    return false;
  }

  /** Returns the status. The folder is reported as starting until its first full scan has finished. */
  status(): FolderStatus {
    const { isUnscanned } = this;
    const state = this.#state;
    return folderStatus(this.watcher, this.router.folder, {
      accounts: this.watcher.accounts(this.#comparisons.files().map(({ path }) => path)),
      lone_sidecars: this.#lone.view(this.#waitingVideos()),
      state: isUnscanned || state === null ? 'starting' : state.state,
      why: isUnscanned ? this.#whyStarting() : state !== null && 'why' in state ? state.why : null,
    });
  }

  /** Returns the videos and links that are settling or being compared. A sidecar counts with its video. */
  settling(): readonly SettlingFile[] {
    return videosSettling(this.watcher.settling(), this.#comparisons.files());
  }

  countSettling(): number {
    return countVideosSettling(this.watcher.inventory.waiting.values(), this.#comparisons.files());
  }

  /** Whether files, sidecars included, may still arrive without further events. A done marker is such an event. */
  isSettling(): boolean {
    const isMoving = this.watcher.settling().some(({ lacksMarker }) => !lacksMarker);
    return isMoving || this.#comparisons.files().length > 0 || this.#deciding !== null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#decideAgain !== null) clearTimeout(this.#decideAgain);
    await this.watcher[Symbol.asyncDispose]();
    await this.#comparisons[Symbol.asyncDispose]();
    await this.#deciding;
    await unlessHung(this.#lookingAtStopped ?? Promise.resolve());
  }

  /** Starts the decision about earlier files, once the folder is there. */
  #decideSoon(scan = (): Promise<void> => this.watcher.rescan()): void {
    this.#deciding ??= this.#decide(scan)
      .catch((error: unknown) => {
        this.#world.logger.error('The first scan failed; retrying soon', { folder: this.path, err: error });
        this.#decideAgain = setTimeout(() => this.#decideSoon(), retryMs).unref();
      })
      .finally(() => (this.#deciding = null));
  }

  /** Inserts a row for every file that existed before, settled or not, and then ends the first start. */
  async #decide(scan: () => Promise<void>): Promise<void> {
    const freezes = this.#freezes;
    await scan();
    if (this.frozen !== null || this.#isClosed || (await this.#first.begin()).isOver) return;
    const files = this.watcher.settling().filter(({ kind }) => kind !== 'sidecar');
    let left = 0;
    await eachOf(files, async (file) => {
      if (!this.#isClosed && (await this.#takeFromBefore(file))) left += 1;
    });
    if (this.#isClosed) return;
    // If the folder was unavailable in the meantime, files that were not seen then have no row yet.
    if (this.#freezes !== freezes) return this.#decide(() => this.watcher.rescan());
    await this.#first.end();
    if (left > 0)
      this.#world.logger.info('Ignoring files that existed before dropcast watched the folder', {
        folder: this.path,
        existing: this.router.folder.existing,
        files: left,
      });
  }

  /** Inserts a row for a file that existed before. @returns false for a new file */
  async #takeFromBefore({ path, kind, version }: SettlingFile): Promise<boolean> {
    if ((await this.#first.leaving(path, version)) === null) return false;
    const flaw = version.size === 0 && kind !== 'proof' ? emptyFlaw : null;
    const file = { folder: this.path, path, kind, version, flaw };
    try {
      // Retried while busy, because the watcher may be offering the same file.
      while ((await this.take(file)) === 'busy' && !this.#isClosed) await delay(busyMs);
      return true;
    } catch (error) {
      if (error instanceof NotNowError) return false;
      throw error;
    }
  }

  async #note(arrival: Arrival, taking: Promise<Accepted>): Promise<Accepted> {
    const accepted = await taking.catch((error: unknown) => {
      this.#world.broke(error);
      throw error;
    });
    if (noNews.has(accepted)) return accepted;
    const { folder, path, version, flaw, route } = arrival;
    this.#world.events.emit({
      type: 'arrival',
      path: `${folder}/${path}`,
      size: version.size,
      as: accepted,
      heldBecause: flaw ?? (route.kind === 'held' ? route.why : null),
    });
    this.#world.tookIn();
    return accepted;
  }

  /** Reports a row's state to the watcher, which otherwise learns states only from writes. */
  async #reportState({ folder, path }: CompleteFile): Promise<void> {
    const facts = await this.#world.ledger.atPath(folder, path);
    if (facts !== null && !isGivenUp(facts)) this.watcher.inventory.becomes(facts.path, stateOf(facts));
  }

  /** @returns whether a decision was made */
  async #compare(file: CompleteFile, signal: AbortSignal): Promise<boolean> {
    const entry = await lookAt(join(file.folder, file.path));
    // Nothing to do: the watcher itself offers changed files and reports removed ones.
    if (entry.is !== 'unclear' && (entry.is !== 'file' || !isSameVersion(entry.version, file.version))) return true;
    const arrival = await arrivalOf(this.router, file, { first: this.#first, isWanted: false });
    if (arrival === null) return false;
    const accepted = await this.#note(arrival, this.#world.intake.compare(arrival, signal));
    return accepted !== 'busy' && accepted !== 'unread';
  }

  /** Reroutes files held because of their checksum, which a new one may release. The regular check handles lists. */
  async #proofChanged(proofPath: string): Promise<void> {
    for (const path of await this.#videosOf(proofPath)) {
      const facts = await this.#world.ledger.atPath(this.path, path);
      const isHeldForIt = facts?.end === 'held' && facts.lastFailure?.kind === 'mismatch';
      if (isHeldForIt && (await this.reroute(facts)) === 'busy') throw new BusyError(path);
    }
  }

  async #sidecarChanged(sidecarPath: string): Promise<void> {
    await this.router.appeared(sidecarPath);
    const paths = await this.#videosOf(sidecarPath);
    if (paths.length === 0) this.#lone.add(sidecarPath);
    else this.#lone.delete(sidecarPath);
    for (const path of paths) {
      const facts = await this.#world.ledger.atPath(this.path, path);
      if (facts !== null && (await this.reroute(facts)) === 'busy') throw new BusyError(path);
    }
  }

  #videosOf(sidecarPath: string): Promise<readonly string[]> {
    return videosNamedLike(sidecarPath, this.router, this.#world.ledger);
  }

  *#waitingVideos(): Generator<string> {
    for (const { path, kind } of this.watcher.inventory.waiting.values()) if (isTakenIn(kind)) yield path;
  }

  #whyStarting(): string {
    const known = this.watcher.counts().offered;
    const progress = known === 0 ? '' : `: ${this.watcher.visited()} found, ${known} known`;
    return `scanning all of its files for the first time${progress}`;
  }

  /** Rescans files that were accepted but have no row, because they would be lost silently. */
  #requireAccounts(): void {
    const lost = this.watcher.inventory.unaccounted();
    const [path] = lost;
    if (path === undefined) return;
    this.#world.logger.error('Lost track of files; rescanning them (this is a bug)', {
      folder: this.path,
      path,
      count: lost.length,
    });
    for (const each of lost) this.watcher.lookAgain(each);
  }
}

/** Results that emit no event; otherwise an archive would log a line for each file. */
const noNews: ReadonlySet<Accepted> = new Set<Accepted>(['busy', 'known', 'unread', 'left']);

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

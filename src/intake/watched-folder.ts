import type { Logger } from '../log/logger.ts';
import { unlessHung } from '../config/file-access.ts';
import type { FolderConfig } from '../config/config.ts';
import { isThere } from '../disk/local-files.ts';
import type { LedgerView } from '../ledger/view.ts';
import type { Events } from '../pipeline/events.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import { stemOf } from '../routing/sidecar.ts';
import type { Accounts } from '../watch/accounts.ts';
import type {
  FolderWatcher,
  RefusedPath,
  RootState,
  SettlingFile,
  WatchCounts,
  WatchSettings,
} from '../watch/ports.ts';
import type { FolderOwner } from '../watch/root-mark.ts';
import { watchFolder } from '../watch/watcher.ts';
import { FolderIntake } from './folder-intake.ts';
import type { FolderIntakeWorld } from './folder-intake.ts';
import { createRouter } from './folder-router.ts';
import type { FolderRouter } from './folder-router.ts';
import type { LeftBehind } from './left-behind.ts';

export interface FolderStatus {
  readonly path: string;
  readonly state: 'starting' | 'watching' | 'degraded' | 'frozen';
  readonly why: string | null;
  /** Every path in the folder is in exactly one of these. */
  readonly paths: WatchCounts;
  readonly accounts: Accounts;
  /** The first of those that are refused. */
  readonly refused: RefusedPath | null;
}

export interface FolderWorld extends Omit<FolderIntakeWorld, 'stands'> {
  readonly ledger: FolderIntakeWorld['ledger'] & Pick<LedgerView, 'known'>;
  readonly logger: Logger;
  /** In whose name the folders are marked; null: not at all. */
  readonly owner: FolderOwner | null;
  readonly leftBehind: LeftBehind;
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
  #state: RootState | null = null;
  #isScanned = false;

  constructor({ folder, nested, movedBy }: FolderPlace, world: FolderWorld) {
    const { path, settleMs, rescanMs, watch } = folder;
    this.#events = world.events;
    this.#logger = world.logger;
    this.router = createRouter(folder, movedBy);
    this.intake = new FolderIntake(this.router, {
      ...world,
      stands: (facts) => this.watcher.becomes(facts.path, stateOf(facts)),
    });
    this.watcher = watchFolder({
      folder: { path, settleMs, rescanMs, watch, nested, ...this.#selection() },
      sink: {
        complete: (file) => this.intake.complete(file),
        gone: (_, name) => this.intake.gone(name),
        leftBehind: world.leftBehind,
        scanned: () => this.#requireAccounts(),
        root: (_, state) => this.#changed(state),
      },
      known: world.ledger,
      logger: world.logger,
      owner: world.owner,
    });
  }

  get path(): string {
    return this.router.folder.path;
  }

  get isAway(): boolean {
    return this.#state?.state === 'frozen';
  }

  /** Why another dropcast has it, so that nothing of it may be sent, moved or deleted; or null. */
  get whyForeign(): string | null {
    return this.#state?.state === 'frozen' && this.#state.isForeign === true ? this.#state.why : null;
  }

  /** The first full scan is under way. A folder that is away is not scanned. */
  get isUnscanned(): boolean {
    return !this.#isScanned && !this.isAway;
  }

  /** Resolves when it is known whether the folder is there. One that does not answer in time leaves that to its first scan. */
  async begin(): Promise<void> {
    await unlessHung(this.watcher.begin());
  }

  async firstScan(): Promise<void> {
    await this.watcher.start();
    this.#isScanned = true;
  }

  /** Whether a sidecar still has a video or link that is there, known or about to be. */
  async isSidecarUsed(sidecarPath: string): Promise<boolean> {
    const stem = stemOf(sidecarPath);
    // The beginning first: asking the rules about each of 100,000 files takes a second.
    const isIts = (path: string): boolean => path.startsWith(stem) && this.router.isSidecarOf(path, sidecarPath);
    const settling = [...this.watcher.settlingPaths()].filter(isIts);
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
      refused: this.watcher.firstRefused(),
    };
    const state = this.#state;
    if (this.isUnscanned) return { ...known, state: 'starting', why: this.#whyStarting() };
    return { ...known, state: state?.state ?? 'starting', why: state !== null && 'why' in state ? state.why : null };
  }

  accounts(): Accounts {
    return this.watcher.accounts(this.intake.unread().map(({ path }) => path));
  }

  /** The videos and links that settle or are compared; a sidecar counts with its video. */
  settling(): readonly SettlingFile[] {
    const settling = this.watcher.settling().filter(({ path }) => this.router.accepts(path) !== 'sidecar');
    const settlingPaths = new Set(settling.map(({ path }) => path));
    const unread = this.intake.unread().filter(({ path }) => !settlingPaths.has(path));
    return [
      ...settling,
      ...unread.map(({ folder, path, version: { size } }) => ({ folder, path, size, why: isCompared })),
    ];
  }

  /** Whether anything may still come in without further events, sidecars too. */
  isSettling(): boolean {
    return this.watcher.settling().length + this.intake.unread().length > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watcher[Symbol.asyncDispose]();
    await this.intake[Symbol.asyncDispose]();
  }

  #selection(): Pick<WatchSettings, 'accepts' | 'leavesOut'> {
    const { router } = this;
    return { accepts: (path) => router.accepts(path), leavesOut: (directory) => router.leavesOut(directory) };
  }

  #whyStarting(): string {
    const known = this.watcher.counts().offered;
    const progress = known === 0 ? '' : `: ${this.watcher.scanned()} found, ${known} known`;
    return `scanning all of its files for the first time${progress}`;
  }

  /** A file that was taken in and that nothing stands for would be lost without a word. */
  #requireAccounts(): void {
    const lost = this.watcher.unaccounted();
    const [path] = lost;
    if (path === undefined) return;
    this.#logger.error('Files are in no state: they are looked at again', {
      folder: this.path,
      path,
      count: lost.length,
    });
    for (const each of lost) this.watcher.lookAgain(each);
  }

  #changed(state: RootState): void {
    this.#state = state;
    const why = 'why' in state ? state.why : null;
    this.#events.emit({ type: 'folder', folder: this.path, state: state.state, why });
  }
}

const isCompared = 'touched: it is being compared with what was sent';

import { setTimeout as delay } from 'node:timers/promises';
import type { Config, FolderConfig } from '../config/config.ts';
import type { LedgerView } from '../ledger/view.ts';
import { isGivenUp, stateOf } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { RowStore } from '../pipeline/file/row-groups.ts';
import { unlessHung } from '../unless-hung.ts';
import type { FrozenRoot, Resumed, SettlingFile } from '../watch/ports.ts';
import { addFile } from './add-file.ts';
import type { AddResult } from './add-file.ts';
import type { FolderStatus } from './folder-status.ts';
import { createHeldFiles } from './stopped-files.ts';
import type { HeldFiles } from './stopped-files.ts';
import type { Accepted } from './intake.ts';
import { WatchedFolder } from './watched-folder.ts';
import type { FolderSetup, FolderWorld } from './watched-folder.ts';

export interface FrozenFolder extends Pick<FrozenRoot, 'why' | 'claim'> {
  readonly path: string;
}

interface RowChange {
  readonly before: Facts | null;
  readonly facts: Facts;
  /** True if another host of the fleet wrote the row; that host updates the mark. */
  readonly isElsewhere?: true;
}

interface FoldersOptions extends FolderWorld {
  readonly config: Pick<Config, 'folders'>;
  readonly ledger: FolderWorld['ledger'] & RowStore<'unrouted'> & Pick<LedgerView, 'movedBy'>;
}

export class Folders implements AsyncDisposable {
  readonly #world: FoldersOptions;
  readonly #held: HeldFiles;
  readonly #watched = new Map<string, WatchedFolder>();
  /** Long-running work that only disposal waits for. With 100,000 files it takes a while. */
  readonly #background = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #folders: readonly FolderConfig[];
  #mayLackRows = false;
  #comparing: Promise<void> | null = null;

  /** @param options.config must already be validated */
  constructor(options: FoldersOptions) {
    this.#world = options;
    this.#folders = options.config.folders;
    this.#held = createHeldFiles({
      store: options.ledger,
      logger: options.logger,
      reroute: async (facts) => {
        const folder = this.#watched.get(facts.folder);
        if (folder === undefined || folder.frozen !== null) return false;
        // Held files of all folders are routed one after another, so a hung folder must not block the rest.
        const accepted = await unlessHung(folder.reroute(facts));
        return accepted !== null && accepted !== 'busy';
      },
      intervalMs: () => Math.min(...this.#folders.map(({ rescanMs }) => rescanMs), longestCheckMs),
    });
  }

  /** Resolves once it is known which folders are there. First scans run in the background for up to an hour. */
  async start(): Promise<void> {
    await this.#open(this.#folders);
    this.#held.start();
  }

  /** Switches to another configuration. Unchanged folders keep running, and held files are rerouted. */
  async change({ folders }: Pick<Config, 'folders'>): Promise<void> {
    if (this.#isClosed) return;
    const kept = unchanged(this.#folders, folders);
    this.#folders = folders;
    const ended = this.#all().filter(({ path }) => !kept.has(path));
    // Ended folders stay listed until they are replaced. Meanwhile, a missing file proves nothing, and a disposal waits
    // for these folders too.
    await Promise.all(ended.map((folder) => folder[Symbol.asyncDispose]()));
    // If disposal started in the meantime, folders opened now would stay open.
    if (this.#isClosed) return;
    for (const { path } of ended) this.#watched.delete(path);
    await this.#open(folders.filter(({ path }) => !this.#watched.has(path)));
  }

  status(): readonly FolderStatus[] {
    return this.#all().map((folder) => folder.status());
  }

  /** Returns the folders whose first full scan is still running. Unavailable folders are not scanned. */
  unscanned(): readonly string[] {
    return this.#all()
      .filter(({ isUnscanned }) => isUnscanned)
      .map(({ path }) => path);
  }

  isArchiveSeen(): boolean {
    return this.#all().every((folder) => folder.isArchiveSeen);
  }

  /** Returns the folders that are missing, unreadable or owned by another dropcast, with the reason. */
  frozenFolders(): readonly FrozenFolder[] {
    return this.#all().flatMap(({ path, frozen }) => (frozen === null ? [] : { path, ...frozen }));
  }

  settling(): readonly SettlingFile[] {
    return this.#all().flatMap((folder) => folder.settling());
  }

  countSettling(): number {
    return this.#all().reduce((sum, folder) => sum + folder.countSettling(), 0);
  }

  /** Whether files may still arrive without further events, because of a first scan or because they are settling. */
  isSettling(): boolean {
    return this.#background.size > 0 || this.#comparing !== null || this.#all().some((folder) => folder.isSettling());
  }

  /** Returns why a file missing from a folder is not proven gone, or null; see `FolderWatcher.whyAway`. */
  async whyAway(folder: string, missing?: string): Promise<string | null> {
    return (await this.#watched.get(folder)?.watcher.whyAway(missing)) ?? null;
  }

  /** Returns why nothing in a folder may be touched (another owner, or an unresponsive file system), or null. */
  whyOffLimits(folder: string): string | null {
    const frozen = this.#watched.get(folder)?.frozen;
    return frozen?.isOffLimits === true ? frozen.why : null;
  }

  /** Passes on a row change. If a path lost its row (given up, or its file moved), any file there counts as new. */
  written({ before, facts, isElsewhere }: RowChange): void {
    if (isElsewhere !== true && isForMark(before, facts)) this.#watched.get(facts.folder)?.watcher.took();
    if (before !== null && !isSamePath(before, facts)) this.#left(before);
    const isDeleted = facts.disposal === 'deleted' && before?.disposal !== 'deleted';
    if (isGivenUp(facts) || isDeleted) this.#left(facts);
    else this.#watched.get(facts.folder)?.watcher.inventory.becomes(facts.path, stateOf(facts));
  }

  /** Compares the folders with a ledger that may have lost rows, and accepts the files that it lacks again. */
  findLostRows(): void {
    this.#mayLackRows = true;
    this.#comparing ??= this.#compare().finally(() => (this.#comparing = null));
  }

  async isSidecarUsed(folder: string, sidecarPath: string): Promise<boolean> {
    return (await this.#watched.get(folder)?.isSidecarUsed(sidecarPath)) ?? false;
  }

  /** Accepts a file immediately, if the watcher would accept it. */
  async add(absolutePath: string): Promise<AddResult> {
    return addFile(absolutePath, this.#folders, this.#watched);
  }

  /** Applies the rules again to a file that has no record on the service, in case the rules were fixed. */
  async reroute(facts: Facts): Promise<Accepted> {
    const folder = this.#watched.get(facts.folder);
    if (folder === undefined || facts.videoId !== null) return 'known';
    return (await folder.reroute(facts)) ?? 'known';
  }

  /** Resumes a frozen folder, after an operator confirmed its state. @param path absolute */
  async resume(path: string): Promise<Resumed> {
    return this.#watched.get(path)?.resume() ?? notWatched(path);
  }

  /**
   * Records all files of a folder as uploaded, after an operator confirmed it. The folder's ledger is older than its
   * mark.
   * @param path absolute
   */
  async adopt(path: string): Promise<Resumed> {
    return this.#watched.get(path)?.adopt() ?? notWatched(path);
  }

  async rescan(): Promise<void> {
    await Promise.all(this.#all().map(({ watcher }) => watcher.rescan()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    const ends = this.#all().map((folder) => folder[Symbol.asyncDispose]());
    await Promise.all([this.#held[Symbol.asyncDispose](), this.#comparing, ...ends]);
    await Promise.all(this.#background);
  }

  get #isClosed(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Compares the folders with the ledger, and retries until that succeeds. */
  async #compare(): Promise<void> {
    const { logger } = this.#world;
    while (this.#mayLackRows && !this.#isClosed) {
      this.#mayLackRows = false;
      try {
        for (const { path, watcher } of this.#all()) {
          const files = await watcher.compare();
          if (files > 0)
            logger.warn('The ledger lost files that it had; accepting them again', { folder: path, files });
        }
      } catch (err) {
        // The usual cause is that the database is unavailable again, which is reported elsewhere.
        logger.debug('Cannot compare the folders with the ledger; retrying soon', { err });
        this.#mayLackRows = true;
        await delay(retryMs, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
      }
    }
  }

  #left({ folder, path }: Pick<Facts, 'folder' | 'path'>): void {
    const watcher = this.#watched.get(folder)?.watcher;
    watcher?.inventory.becomes(path, null);
    watcher?.lookAgain(path);
  }

  async #open(folders: readonly FolderConfig[]): Promise<void> {
    const setups = await Promise.all(folders.map((folder) => this.#setupOf(folder)));
    const opened = setups.map((setup) => new WatchedFolder(setup, this.#world));
    for (const folder of opened) this.#watched.set(folder.path, folder);
    await this.#begin(opened);
    if (this.#isClosed) return;
    this.#runInBackground('Routing held files again', () => this.#held.rerouteAll());
    for (const folder of opened) this.#runInBackground('The first scan', () => folder.firstScan());
  }

  async #setupOf(folder: FolderConfig): Promise<FolderSetup> {
    const { ledger, logger } = this.#world;
    const movedBy = await ledger.movedBy(folder.path);
    for (const move of movedBy) logger.info('Ignoring files that this template moved', { folder: folder.path, move });
    return { folder, nested: nestedIn(folder, this.#folders), movedBy };
  }

  /** Begins all folders or none; otherwise the next reload would treat those that began as watched. */
  async #begin(opened: readonly WatchedFolder[]): Promise<void> {
    try {
      await Promise.all(opened.map((folder) => folder.begin()));
    } catch (error) {
      for (const { path } of opened) this.#watched.delete(path);
      await Promise.all(opened.map((folder) => folder[Symbol.asyncDispose]()));
      throw error;
    }
  }

  #runInBackground(what: string, work: () => Promise<void>): void {
    const run = work()
      .catch((error: unknown) => this.#world.logger.error(`${what} failed`, { err: error }))
      .finally(() => this.#background.delete(run));
    this.#background.add(run);
  }

  #all(): readonly WatchedFolder[] {
    return [...this.#watched.values()];
  }
}

function notWatched(path: string): Resumed {
  return { ok: false, why: `${path} is not a watched folder` };
}

/** Whether a ledger without this change could upload the file again. */
function isForMark(before: Facts | null, { videoId, uploadStartedAt }: Facts): boolean {
  if (before === null) return true;
  const isCreated = videoId !== null && videoId !== before.videoId;
  return isCreated || (uploadStartedAt !== null && before.uploadStartedAt === null);
}

function isSamePath(one: Facts, other: Facts): boolean {
  return one.folder === other.folder && one.path === other.path;
}

const retryMs = 1_000;
/** Longest interval. `setTimeout` fires immediately for delays over 2^31 ms. */
const longestCheckMs = 3_600_000;

/**
 * Returns the paths of folders that may keep their watcher. Empty if the set of folders differs, because nesting may
 * have changed.
 */
function unchanged(before: readonly FolderConfig[], after: readonly FolderConfig[]): ReadonlySet<string> {
  const texts = new Map(before.map((folder) => [folder.path, JSON.stringify(folder)]));
  const isSameSet = after.length === before.length && after.every(({ path }) => texts.has(path));
  const same = after.filter((folder) => texts.get(folder.path) === JSON.stringify(folder));
  return new Set(isSameSet ? same.map(({ path }) => path) : []);
}

export function nestedIn({ path: outer }: FolderConfig, folders: readonly FolderConfig[]): readonly string[] {
  return folders.map(({ path }) => path).filter((path) => path.startsWith(`${outer}/`));
}

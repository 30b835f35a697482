import type { Config, FolderConfig } from '../config/config.ts';
import { unlessHung } from '../unless-hung.ts';
import type { LedgerView } from '../ledger/view.ts';
import { isGivenUp, stateOf } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { IntakeStore } from '../pipeline/file/ports.ts';
import type { Resumed, SettlingFile } from '../watch/ports.ts';
import { addFile } from './add-file.ts';
import type { AddResult } from './add-file.ts';
import { HeldFiles } from './held-files.ts';
import { LostRows } from './lost-rows.ts';
import type { Accepted } from './intake.ts';
import { WatchedFolder } from './watched-folder.ts';
import type { FolderPlace, FolderStatus, FolderWorld } from './watched-folder.ts';

export interface FrozenFolder {
  readonly path: string;
  readonly why: string;
}

/** The watched folders of a configuration. */
export interface Folders extends AsyncDisposable {
  /** Resolves when it is known which folders are there. Their first full scans, of up to an hour, go on in the background. */
  start(): Promise<void>;
  /** Switches to another configuration: folders that stay the same keep running, held files are routed again. */
  change(config: Pick<Config, 'folders'>): Promise<void>;
  status(): readonly FolderStatus[];
  /** Those whose first full scan is under way. A folder that is away is not scanned. */
  unscanned(): readonly string[];
  /** Whether all files have their rows that were in a folder with `existing: adopt` when it was watched for the first time. */
  isArchiveSeen(): boolean;
  /** Folders that are missing, cannot be read, or belong to another dropcast, and why. */
  frozenFolders(): readonly FrozenFolder[];
  /** The videos and links that settle; a sidecar counts with its video. */
  settling(): readonly SettlingFile[];
  countSettling(): number;
  /** Whether anything may still come in without further events: a first scan is under way, or something settles, sidecars too. */
  isSettling(): boolean;
  /** Why what is missing in a folder proves nothing, or null; see `FolderWatcher`. */
  whyAway(folder: string, missing?: string): Promise<string | null>;
  /** Why nothing in a folder may be touched, or null: another dropcast has it, or its file system does not answer. */
  whyOffLimits(folder: string): string | null;
  /**
   * A row was written. Where it stands for a file no more, because it was given up or its file is at another path, whatever is there
   * now is looked at as if it came now.
   */
  written(change: RowChange): void;
  /** The ledger may have lost rows: files that it does not have any more are taken in again. */
  findLostRows(): void;
  /** Whether a sidecar still has a video or link that is there, known or about to be. */
  isSidecarUsed(folder: string, sidecarPath: string): Promise<boolean>;
  /** Takes in a file as it is now, without waiting until it settled. Only what the watcher would take too. */
  add(absolutePath: string): Promise<AddResult>;
  /** Asks the rules again about a file of which nothing was sent: somebody may have fixed them. */
  reroute(facts: Facts): Promise<Accepted>;
  /** A person says that a frozen folder is as it should be. `path`: absolute, of a watched folder. */
  resume(path: string): Promise<Resumed>;
  /** An operator says that all files of a folder whose ledger is older than it were uploaded. `path`: absolute, of a watched folder. */
  adopt(path: string): Promise<Resumed>;
  /** Scans now. */
  rescan(): Promise<void>;
}

export interface RowChange {
  readonly before: Facts | null;
  readonly facts: Facts;
  /** Another host of the fleet wrote it, and marks the folder. */
  readonly isElsewhere?: true;
}

export interface FoldersOptions extends FolderWorld {
  readonly config: Pick<Config, 'folders'>;
  readonly ledger: FolderWorld['ledger'] & Pick<IntakeStore, 'unrouted'> & Pick<LedgerView, 'movedBy'>;
}

/** @param options.config must have passed the checks */
export function createFolders(options: FoldersOptions): Folders {
  return new FolderSet(options);
}

class FolderSet implements Folders {
  readonly #world: FoldersOptions;
  readonly #held: HeldFiles;
  readonly #lostRows: LostRows;
  readonly #watched = new Map<string, WatchedFolder>();
  /** Work that only the end waits for: with 100,000 files it takes its time. */
  readonly #background = new Set<Promise<void>>();
  #folders: readonly FolderConfig[];
  #isClosed = false;

  constructor(options: FoldersOptions) {
    this.#world = options;
    this.#folders = options.config.folders;
    this.#held = new HeldFiles({
      store: options.ledger,
      logger: options.logger,
      reroute: async (facts) => {
        const folder = this.#watched.get(facts.folder);
        if (folder === undefined || folder.isFrozen) return false;
        // The held files of all folders are asked about one after the other.
        const accepted = await unlessHung(folder.intake.reroute(facts));
        return accepted !== null && accepted !== 'busy';
      },
      intervalMs: () => Math.min(...this.#folders.map(({ rescanMs }) => rescanMs), longestCheckMs),
    });
    this.#lostRows = new LostRows({ logger: options.logger, compare: () => this.#compare() });
  }

  findLostRows(): void {
    this.#lostRows.look();
  }

  async start(): Promise<void> {
    await this.#open(this.#folders);
    this.#held.start();
  }

  async change({ folders }: Pick<Config, 'folders'>): Promise<void> {
    if (this.#isClosed) return;
    const kept = unchanged(this.#folders, folders);
    this.#folders = folders;
    const ended = this.#all().filter(({ path }) => !kept.has(path));
    // They stay listed until others replace them: until then a missing file proves nothing, and whoever closes waits for them too.
    await Promise.all(ended.map((folder) => folder[Symbol.asyncDispose]()));
    // Closed meanwhile: nobody would close what is opened from here on.
    if (this.#isClosed) return;
    for (const { path } of ended) this.#watched.delete(path);
    await this.#open(folders.filter(({ path }) => !this.#watched.has(path)));
  }

  status(): readonly FolderStatus[] {
    return this.#all().map((folder) => folder.status());
  }

  unscanned(): readonly string[] {
    return this.#all()
      .filter(({ isUnscanned }) => isUnscanned)
      .map(({ path }) => path);
  }

  isArchiveSeen(): boolean {
    return this.#all().every((folder) => folder.isArchiveSeen);
  }

  frozenFolders(): readonly FrozenFolder[] {
    return this.#all().flatMap(({ path, whyFrozen: why }) => (why === null ? [] : { path, why }));
  }

  settling(): readonly SettlingFile[] {
    return this.#all().flatMap((folder) => folder.settling());
  }

  countSettling(): number {
    return this.#all().reduce((sum, folder) => sum + folder.countSettling(), 0);
  }

  isSettling(): boolean {
    return this.#background.size > 0 || this.#lostRows.isLooking || this.#all().some((folder) => folder.isSettling());
  }

  async whyAway(folder: string, missing?: string): Promise<string | null> {
    return (await this.#watched.get(folder)?.watcher.whyAway(missing)) ?? null;
  }

  whyOffLimits(folder: string): string | null {
    return this.#watched.get(folder)?.whyOffLimits ?? null;
  }

  written({ before, facts, isElsewhere }: RowChange): void {
    if (isElsewhere !== true && isForMark(before, facts)) this.#watched.get(facts.folder)?.watcher.took();
    if (before !== null && !isSamePlace(before, facts)) this.#left(before);
    const isDeleted = facts.disposal === 'deleted' && before?.disposal !== 'deleted';
    if (isGivenUp(facts) || isDeleted) this.#left(facts);
    else this.#watched.get(facts.folder)?.watcher.becomes(facts.path, stateOf(facts));
  }

  async isSidecarUsed(folder: string, sidecarPath: string): Promise<boolean> {
    return (await this.#watched.get(folder)?.isSidecarUsed(sidecarPath)) ?? false;
  }

  async add(absolutePath: string): Promise<AddResult> {
    return addFile(absolutePath, this.#folders, this.#watched);
  }

  async reroute(facts: Facts): Promise<Accepted> {
    const folder = this.#watched.get(facts.folder);
    if (folder === undefined || facts.videoId !== null) return 'known';
    return (await folder.intake.reroute(facts)) ?? 'known';
  }

  async resume(path: string): Promise<Resumed> {
    const folder = this.#watched.get(path);
    return folder === undefined ? { ok: false, why: `${path} is not a watched folder` } : folder.resume();
  }

  async adopt(path: string): Promise<Resumed> {
    const folder = this.#watched.get(path);
    return folder === undefined ? { ok: false, why: `${path} is not a watched folder` } : folder.adopt();
  }

  async rescan(): Promise<void> {
    await Promise.all(this.#all().map(({ watcher }) => watcher.rescan()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const ends = this.#all().map((folder) => folder[Symbol.asyncDispose]());
    await Promise.all([this.#held[Symbol.asyncDispose](), this.#lostRows[Symbol.asyncDispose](), ...ends]);
    await Promise.all(this.#background);
  }

  async #compare(): Promise<void> {
    for (const { path, watcher } of this.#all()) {
      const files = await watcher.compare();
      if (files > 0)
        this.#world.logger.warn('The ledger lacks files that it had: they are taken in again', { folder: path, files });
    }
  }

  #left({ folder, path }: Pick<Facts, 'folder' | 'path'>): void {
    const watcher = this.#watched.get(folder)?.watcher;
    watcher?.becomes(path, null);
    watcher?.lookAgain(path);
  }

  async #open(folders: readonly FolderConfig[]): Promise<void> {
    const places = await Promise.all(folders.map((folder) => this.#placeOf(folder)));
    const opened = places.map((place) => new WatchedFolder(place, this.#world));
    for (const folder of opened) this.#watched.set(folder.path, folder);
    await this.#begin(opened);
    if (this.#isClosed) return;
    this.#runInBackground('Routing held files again', () => this.#held.rerouteAll());
    for (const folder of opened) this.#runInBackground('The first scan', () => folder.firstScan());
  }

  async #placeOf(folder: FolderConfig): Promise<FolderPlace> {
    const { ledger, logger } = this.#world;
    const movedBy = await ledger.movedBy(folder.path);
    for (const move of movedBy)
      logger.info('Files were moved by this template: they are left alone', { folder: folder.path, move });
    return { folder, nested: nestedIn(folder, this.#folders), movedBy };
  }

  /** Keeps none of the folders if one cannot begin: kept, they would never be scanned, and the next reload would take them for watched. */
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

/** Whether a ledger without this change could upload the file once more. */
function isForMark(before: Facts | null, { videoId, uploadStartedAt }: Facts): boolean {
  if (before === null) return true;
  const isCreated = videoId !== null && videoId !== before.videoId;
  return isCreated || (uploadStartedAt !== null && before.uploadStartedAt === null);
}

function isSamePlace(one: Facts, other: Facts): boolean {
  return one.folder === other.folder && one.path === other.path;
}

/** `setTimeout` over 2^31 ms fires at once. */
const longestCheckMs = 3_600_000;

/** Paths of folders that may keep their watcher. None if the set of folders differs: that changes which are nested in which. */
function unchanged(before: readonly FolderConfig[], after: readonly FolderConfig[]): ReadonlySet<string> {
  const texts = new Map(before.map((folder) => [folder.path, JSON.stringify(folder)]));
  const isSameSet = after.length === before.length && after.every(({ path }) => texts.has(path));
  const same = after.filter((folder) => texts.get(folder.path) === JSON.stringify(folder));
  return new Set(isSameSet ? same.map(({ path }) => path) : []);
}

/** Absolute paths of the other folders that lie in this one. */
export function nestedIn({ path: outer }: FolderConfig, folders: readonly FolderConfig[]): readonly string[] {
  return folders.map(({ path }) => path).filter((path) => path.startsWith(`${outer}/`));
}

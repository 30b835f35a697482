import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { RootIdentity } from './root-identity.ts';
import type { ScanTimes } from './scan-schedule.ts';
import type { LeftOut } from './left-out.ts';

/**
 * `link` is a file that names a remote address (`.url`, `.webloc`); `sidecar` holds the metadata of a file beside it; `proof` says of one
 * that it is complete, or what it has to be (a done marker, a checksum).
 */
export type FileKind = 'media' | 'link' | 'sidecar' | 'proof';

/** A directory below the folder that dropcast may not list or enter: nothing is known of what is in it. */
export interface ClosedDirectory {
  readonly folder: string;
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly version: FileVersion;
  /** For a person, with the command that opens it. */
  readonly why: string;
}

/** The folder to watch, and how. */
export interface WatchSettings {
  /** Absolute. */
  readonly path: string;
  /** A file that stays unchanged for this long is complete. */
  readonly settleMs: number;
  /** Between two full scans, with jitter: 3/4 to 5/4 of it. */
  readonly rescanMs: number;
  /** `polling` opens no watches and only scans: for shares whose writers are on other machines. */
  readonly watch: 'auto' | 'native' | 'polling';
  /** What a relative path is to us; include, exclude and sidecar names are up to the caller. `null`: not ours. */
  readonly accepts: (path: string) => FileKind | null;
  /** The path of the file that says that this one is complete; `null`: none is waited for. */
  readonly markerOf: (path: string) => string | null;
  /** Whether `exclude` takes a path out. */
  readonly isExcluded: (path: string) => boolean;
  /** Whether a directory, relative to the folder, has nothing of ours: it is never entered, and counts as one ignored path. */
  readonly leavesOut: (directory: string) => boolean;
  /** Absolute paths of watched folders inside this one. They have their own watcher, so this one never enters them. */
  readonly nested: readonly string[];
  /** dropcast needs only to read the folder (`after_ready: keep`): that it may not write there is as intended. */
  readonly isOnlyRead?: boolean;
}

/** What `status` and the log say of a folder in which dropcast may write nothing and needs to write nothing. */
export const onlyRead = 'read-only for dropcast (after_ready: keep)';

/** A file that settled: all its bytes are there as far as waiting can tell. */
export interface CompleteFile {
  readonly folder: string;
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly kind: FileKind;
  readonly version: FileVersion;
  /** Why the file must not be sent although more waiting does not help, in words; `null` for a sound file. */
  readonly flaw: string | null;
  /** The flaw is that dropcast may not read it: that ends with an access right, not with another file. */
  readonly isUnreadable?: boolean;
}

export interface SettlingFile {
  readonly folder: string;
  readonly path: string;
  readonly kind: FileKind;
  readonly version: FileVersion;
  /** Bytes. */
  readonly size: number;
  /** What the file waits for, in words: `unchanged for 3.2 of 5 s`. */
  readonly why: string;
  /** Nothing happens to it until somebody says that it is complete. */
  readonly lacksMarker: boolean;
}

/**
 * - `watching`: events and scans; `why` when there is something to know about them, as on a share.
 * - `frozen`: the folder is missing, unmounted or unreadable, another dropcast's, or most of its files are missing at once. No file is
 *   offered, none is reported gone. `isOffLimits`: it is another dropcast's, does not answer, or `isBehind`, so nothing in it may be touched.
 *   `isBehind`: the ledger is older than the folder.
 * - `scanning`: events are missing (watch limit, permissions, none arrives), so scans run alone and more often. The watches are reopened as soon
 *   as a scan can read what could not be watched; after a limit was reached, from time to time.
 */
export type RootState =
  | { readonly state: 'watching'; readonly why?: string }
  | { readonly state: 'frozen'; readonly why: string; readonly isOffLimits?: true; readonly isBehind?: true }
  | { readonly state: 'scanning'; readonly why: string };

/** Thrown by the sink when it cannot take a file or a report just now, and nothing is wrong: it comes again, without a word in the log. */
export class NotNowError extends Error {
  override readonly name: string = 'NotNowError';
}

export interface WatchSink {
  /** Once per (path, version), at most 16 at a time. Offered again only after a rejection. */
  complete(file: CompleteFile): Promise<void>;
  /**
   * A path that was offered, or known, no longer exists. That is certain (ENOENT below a healthy folder). After a rename it comes
   * after the file was offered under its new path. Reported again only after a rejection.
   */
  gone(folder: string, path: string): Promise<void>;
  /** Each scan: a hidden directory of dropcast's own, in which a file is put away, or was when dropcast ended. Never rejects. */
  leftBehind(folder: string, directory: string): Promise<void>;
  /** A directory below the folder stays closed to dropcast. Reported again only after a rejection, or when it was open in between. */
  closed(directory: ClosedDirectory): Promise<void>;
  /** A scan ended. Must not throw. */
  scanned(folder: string): void;
  /** On every change of the state; the first call comes before `begin()` resolves. */
  root(folder: string, state: RootState): void;
}

export interface RefusedPath {
  /** Relative to the folder. */
  readonly path: string;
  /** In words: `it is a symbolic link`. */
  readonly why: string;
}

/** What is remembered of a folder itself, from one start to the next. */
export interface RootRecord {
  /** The directory that is the folder; null while none was found yet. */
  readonly identity: RootIdentity | null;
  /**
   * - `missing`: most files were missing at once, which nobody believes; the folder is frozen. `before`: paths that had been given up
   *   shortly before that.
   * - `older`: the ledger is older than the mark of the folder. It stays so until an operator answers: files of other folders advance the ledger.
   * - `resumed`: an operator said that all is as it should be, and no scan has seen it yet. `isOlder`: also that the ledger counts, although
   *   it is older.
   */
  readonly doubt: RootDoubt | null;
}

export type RootDoubt =
  | { readonly is: 'missing'; readonly before: readonly string[] }
  | { readonly is: 'older' }
  | { readonly is: 'resumed'; readonly isOlder?: boolean };

export interface RootStore {
  /** Null when nothing usable was saved. */
  load(folder: string): Promise<unknown>;
  save(folder: string, record: RootRecord): Promise<void>;
  /**
   * How many of these paths should have a file. A file that dropcast is moving or deleting at this moment, or has moved or deleted, does
   * not count.
   */
  expected(folder: string, paths: readonly string[], which: Expected): Promise<number>;
}

/**
 * Which rows count as a file that should be there:
 *
 * - `unfinished`: files that are still needed. A file that is done may have been taken away while dropcast was stopped.
 * - `also given up`: files that dropcast has given up as vanished, too.
 */
export type Expected = 'all' | 'unfinished' | 'also given up';

export type Resumed =
  | { readonly ok: true; readonly what: string }
  /** Why there is nothing to resume. */
  | { readonly ok: false; readonly why: string };

export interface KnownFile {
  readonly path: string;
  readonly version: FileVersion;
  /** Of its row; see `becomes`. */
  readonly state: string;
}

/** What the ledger has of a folder: offered again only when changed, reported gone when missing. */
export interface KnownFiles {
  /** Tells each; of several versions of a path the last counts. */
  known(folder: string, tell: (file: KnownFile) => void): Promise<void>;
}

/** Every path seen is in exactly one bucket: `seen` is the sum of the others. A directory left alone counts as one path. */
export interface WatchCounts {
  readonly seen: number;
  readonly settling: number;
  /** The sink has it, or it was known before. */
  readonly offered: number;
  /** Temporary names and paths that nothing includes, as of the last full scan. */
  readonly ignored: number;
  /** Symbolic links, devices, names that are not UTF-8, directories that cannot be read. */
  readonly refused: number;
}

/** Where the paths of a folder are: each is in exactly one place, at every moment. */
export interface Accounts {
  /** Paths that are known to exist. A directory that is left alone counts as one path. */
  readonly seen: number;
  readonly settling: number;
  /** Touched: being compared with what was sent. */
  readonly comparing: number;
  /** State of the row of a file → number of files. */
  readonly known: Readonly<Record<string, number>>;
  /** Sidecars, and other files that belong to a video. */
  readonly sidecars: number;
  readonly ignored: number;
  readonly refused: number;
  /** `seen` without all others. Not zero: a file was taken in and has no row. */
  readonly unaccounted: number;
}

/** How a folder is watched, and when it was last heard of and looked at. */
export interface WatchActivity {
  /** What finds files. Where events tell of some files only, scans come every few seconds as well. */
  readonly by: 'events' | 'events and scans' | 'scans';
  /** Null: no event came since the start. */
  readonly heardMsAgo: number | null;
  readonly scans: ScanTimes;
  /** Files that wait until the file is there that says that they are complete. */
  readonly lackMarkers: number;
  readonly leftOut: LeftOut;
}

export interface FolderWatcher extends AsyncDisposable {
  /** Looks only at the folder itself. Resolves when it is known whether the folder can be trusted. */
  begin(): Promise<void>;
  /** Begins, and resolves after the first full scan, or soon after the watcher was disposed of. */
  start(): Promise<void>;
  /** Resolves after a full scan that began after the call. */
  rescan(): Promise<void>;
  /**
   * Asks the disk now why what is missing in the folder proves nothing. `null`: it does prove something.
   *
   * @param missing a path the caller did not find and now believes gone: if the file is there again, it is offered again
   */
  whyAway(missing?: string): Promise<string | null>;
  /** The caller does not have the file at this path any more: whatever is there is offered, even if it was offered before. */
  lookAgain(path: string): void;
  /** The caller saw the file with this version just now: from here on it is missed when it is gone. Paths that are left out stay so. */
  seen(path: string, version: FileVersion): void;
  /**
   * The ledger may have lost rows: compares it with the folder again, as at the start, and offers what it does not have.
   *
   * @returns how many files that are
   */
  compare(): Promise<number>;
  /** The row that stands for the file at a path is in this state now; null: none stands for it any more. */
  becomes(path: string, state: string | null): void;
  /** @param comparing paths that the caller compares before it decides about them */
  accounts(comparing: Iterable<string>): Accounts;
  /** Files that the sink took, and that nothing stands for: there must be none. */
  unaccounted(): readonly string[];
  /** How many files the scan under way, or the last one, has come to. */
  visited(): number;
  /** A file of the folder was taken in, or its upload began: the mark is to say so. */
  took(): void;
  /** A person says that the directory at the path is the folder, and that the files missing in it are gone. Scans it. */
  resume(): Promise<Resumed>;
  settling(): readonly SettlingFile[];
  /** Those that settle, without words: there may be 100,000. */
  waiting(): Iterable<Pick<SettlingFile, 'path' | 'kind'>>;
  counts(): WatchCounts;
  activity(): WatchActivity;
  /** The first so many of the refused paths. */
  refused(most: number): readonly RefusedPath[];
}

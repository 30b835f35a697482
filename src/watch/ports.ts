import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { RootIdentity } from './root-check.ts';
import type { ScanTimes } from './scan-schedule.ts';
import type { LeftOut } from './left-out.ts';

/**
 * `link` names a remote address (`.url`, `.webloc`); `sidecar` holds the metadata of the file next to it; `proof` says
 * that a file is complete or what its content must be (a done marker, a checksum).
 */
export type FileKind = 'media' | 'link' | 'sidecar' | 'proof';

/** A directory below the folder that dropcast may not list or enter: its files are unknown. */
export interface ClosedDirectory {
  readonly folder: string;
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly version: FileVersion;
  /** For people, with the command that grants access. */
  readonly why: string;
}

/** The folder to watch, and how to watch it. */
export interface WatchSettings {
  /** Absolute. */
  readonly path: string;
  /** A file that stayed unchanged for this long is complete. */
  readonly settleMs: number;
  /** The time between two full scans, with jitter: 3/4 to 5/4 of this. */
  readonly rescanMs: number;
  /** `polling` opens no watches and only scans, for shares whose writers are on other machines. */
  readonly watch: 'auto' | 'native' | 'polling';
  /** The kind of a file, by its relative path; `null`: not ours. The caller knows `include` and `exclude`. */
  readonly accepts: (path: string) => FileKind | null;
  /** The path of the done marker of a file; `null`: it needs none. */
  readonly markerOf: (path: string) => string | null;
  /** Whether `exclude` matches a path. */
  readonly isExcluded: (path: string) => boolean;
  /** Whether a directory, relative to the folder, has no files of ours. It counts as one ignored path. */
  readonly leavesOut: (directory: string) => boolean;
  /** Absolute paths of watched folders inside this one. They have their own watchers, so this one never enters them. */
  readonly nested: readonly string[];
  /** dropcast only needs to read the folder (`after_ready: keep`): a missing write permission is intended. */
  readonly isOnlyRead?: boolean;
}

/** For the status and log of a folder that dropcast may not and need not write to. */
export const onlyRead = 'read-only for dropcast (after_ready: keep)';

/** A file that settled: it is complete as far as waiting can tell. */
export interface CompleteFile {
  readonly folder: string;
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly kind: FileKind;
  readonly version: FileVersion;
  /** Why the file must not be sent although more waiting would not help, in words; `null` for a sound file. */
  readonly flaw: string | null;
  /** The flaw is that dropcast may not read the file: a permission ends it, not a new file. */
  readonly isUnreadable?: boolean;
}

export interface SettlingFile {
  readonly folder: string;
  readonly path: string;
  readonly kind: FileKind;
  readonly version: FileVersion;
  /** Bytes. */
  readonly size: number;
  /** The reason for the wait, in words: `unchanged for 3.2 of 5 s`. */
  readonly why: string;
  /** The file waits for its done marker. */
  readonly lacksMarker: boolean;
}

/**
 * - `watching`: events and scans. `why` has remarks, as on a share.
 * - `frozen`: the folder is missing, unmounted or unreadable, belongs to another dropcast, or most of its files are
 *   missing at once. No file is offered or reported gone. `isOffLimits`: it belongs to another dropcast, does not
 *   answer, or `isBehind`: nothing in it may be touched. `isBehind`: the ledger is older than the folder.
 * - `scanning`: events are missing (watch limit, permissions, none arrives), so scans run alone and more often. The
 *   watches are reopened once a scan can read the directory that could not be watched; after a limit was reached, from
 *   time to time.
 */
export type RootState =
  | { readonly state: 'watching'; readonly why?: string }
  | FrozenRoot
  | { readonly state: 'scanning'; readonly why: string };

export interface FrozenRoot {
  readonly state: 'frozen';
  readonly why: string;
  readonly isOffLimits?: true;
  readonly isBehind?: true;
}

/** Thrown by the sink when it cannot take a report now, and nothing is wrong. The watcher repeats it silently. */
export class NotNowError extends Error {
  override readonly name: string = 'NotNowError';
}

export interface WatchSink {
  /** Offers a file, once per (path, version), at most 16 at a time. Repeated only after a rejection. */
  complete(file: CompleteFile): Promise<void>;
  /**
   * Reports that an offered or known path no longer exists, which is certain (ENOENT below a healthy folder). After a
   * rename, the offer of the new path comes first. Repeated only after a rejection.
   */
  gone(path: string): Promise<void>;
  /** Reports, in each scan, a private directory with a file that is being put away. Never rejects. */
  leftBehind(directory: string): Promise<void>;
  /** Reports a closed directory. Repeated only after a rejection, or when it was open in between. */
  closed(directory: ClosedDirectory): Promise<void>;
  /** A scan ended. Must not throw. */
  scanned(): void;
  /** On every change of the state; the first call comes before `begin()` resolves. */
  root(state: RootState): void;
}

export interface RefusedPath {
  /** Relative to the folder. */
  readonly path: string;
  /** In words: `it is a symbolic link`. */
  readonly why: string;
}

/** The record of a folder, which outlives the process. */
export interface RootRecord {
  /** The directory that is the folder; null until one was found. */
  readonly identity: RootIdentity | null;
  /**
   * - `missing`: most files were missing at once, so the folder is frozen. `before`: paths that were given up shortly
   *   before.
   * - `older`: the ledger is older than the mark of the folder. This lasts until an operator answers, because files of
   *   other folders advance the ledger.
   * - `resumed`: an operator said that all is as it should be, and no scan has seen it yet. `isOlder`: and that the
   *   ledger is right, although it is older.
   */
  readonly doubt: RootDoubt | null;
}

export type RootDoubt =
  | { readonly is: 'missing'; readonly before: readonly string[] }
  | { readonly is: 'older' }
  | { readonly is: 'resumed'; readonly isOlder?: boolean };

export interface RootStore {
  /** @returns null when nothing usable was saved */
  load(folder: string): Promise<unknown>;
  save(folder: string, record: RootRecord): Promise<void>;
  /** How many of these paths should have a file. Files that dropcast moves or deletes do not count. */
  expected(folder: string, paths: readonly string[], which: Expected): Promise<number>;
}

/**
 * Which rows should have a file:
 *
 * - `unfinished`: files that are still needed. A finished file may have been removed while dropcast was stopped.
 * - `also given up`: also files that dropcast gave up as vanished.
 */
export type Expected = 'all' | 'unfinished' | 'also given up';

export type Resumed =
  | { readonly ok: true; readonly what: string }
  /** Why there is nothing to resume. */
  | { readonly ok: false; readonly why: string };

export interface KnownFile {
  readonly path: string;
  readonly version: FileVersion;
  /** The state of its row; see `FolderWatcher.becomes`. */
  readonly state: string;
}

/** The files of a folder that the ledger has: offered again only when changed, reported gone when missing. */
export interface KnownFiles {
  /** Calls `tell` for each file. The last version of a path counts. */
  known(folder: string, tell: (file: KnownFile) => void): Promise<void>;
}

/** Every path seen is in exactly one bucket; `seen` is their sum. An ignored directory counts as one path. */
export interface WatchCounts {
  readonly seen: number;
  readonly settling: number;
  /** The sink took it, or it was known before. */
  readonly offered: number;
  /** Temporary names and paths that nothing includes, as of the last full scan. */
  readonly ignored: number;
  /** Symbolic links, devices, names that are not UTF-8, directories that cannot be read. */
  readonly refused: number;
}

/** The accounts of a folder: each path is in exactly one, at every moment. */
export interface Accounts {
  /** Paths that are known to exist. An ignored directory counts as one path. */
  readonly seen: number;
  readonly settling: number;
  /** Touched files that are being compared with the sent content. */
  readonly comparing: number;
  /** State of the row of a file → number of files. */
  readonly known: Readonly<Record<string, number>>;
  /** Sidecars and proofs. */
  readonly sidecars: number;
  readonly ignored: number;
  readonly refused: number;
  /** `seen` minus all others. Not zero: a file was taken in and has no row. */
  readonly unaccounted: number;
}

/** How a folder is watched, with the times of its last event and scan. */
export interface WatchActivity {
  /** The source of new files. If events report only some files, scans run every few seconds as well. */
  readonly by: 'events' | 'events and scans' | 'scans';
  /** Null: no event came since the start. */
  readonly heardMsAgo: number | null;
  readonly scans: ScanTimes;
  /** Files that wait for their done marker. */
  readonly lackMarkers: number;
  readonly leftOut: LeftOut;
}

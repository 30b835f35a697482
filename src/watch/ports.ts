import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { RootIdentity } from './root-check.ts';
import type { ScanTimes } from './scan-schedule.ts';

/**
 * `media` is a video or audio file. `link` names a remote address (`.url`, `.webloc`). `sidecar` holds metadata for the
 * file next to it. `proof` states that a file is complete or what its content must be (a done marker, a checksum).
 */
export type FileKind = 'media' | 'link' | 'sidecar' | 'proof';

/** Whether a file of this kind gets a row. */
export function isTakenIn(kind: FileKind | null): boolean {
  return kind === 'media' || kind === 'link';
}

/** A directory below the folder that dropcast may not list or enter. The files in it are unknown. */
export interface ClosedDirectory {
  readonly folder: string;
  /** Path relative to the folder, with `/`. */
  readonly path: string;
  readonly version: FileVersion;
  /** Human-readable reason, with the command that grants access. */
  readonly why: string;
}

/** The folder to watch and how to watch it. */
export interface WatchSettings {
  /** Absolute path. */
  readonly path: string;
  /** How long a file must stay unchanged to count as complete. */
  readonly settleMs: number;
  /** Time between two full scans, with jitter: 3/4 to 5/4 of this value. */
  readonly rescanMs: number;
  /** `polling` opens no watches and only scans, for shares with writers on other machines. */
  readonly watch: 'auto' | 'native' | 'polling';
  /**
   * Returns the kind of a file by relative path; `null` if it is not ours. The caller applies `include` and `exclude`.
   */
  readonly accepts: (path: string) => FileKind | null;
  /** Returns the path of a file's done marker; `null` if the file needs none. */
  readonly markerOf: (path: string) => string | null;
  readonly isExcluded: (path: string) => boolean;
  /** Whether a directory, relative to the folder, contains none of our files. It counts as one ignored path. */
  readonly leavesOut: (directory: string) => boolean;
  /** Absolute paths of watched folders inside this one. This watcher never enters them, because they have their own. */
  readonly nested: readonly string[];
  /**
   * True if dropcast only needs to read the folder (`after_ready: keep`), so a missing write permission is intended.
   */
  readonly isOnlyRead: boolean;
}

/** Status and log text for a folder that dropcast may not write to and need not. */
export const onlyRead = 'read-only for dropcast (after_ready: keep)';

/** A file that has settled: it is complete as far as waiting can tell. */
export interface CompleteFile {
  readonly folder: string;
  /** Path relative to the folder, with `/`. */
  readonly path: string;
  readonly kind: FileKind;
  readonly version: FileVersion;
  /** Why the file must not be sent and further waiting would not help, in words; `null` for a sound file. */
  readonly flaw: string | null;
  /** True if the flaw is that dropcast may not read the file. Fixed by granting access, not by a new file. */
  readonly isUnreadable?: boolean;
}

export interface SettlingFile {
  readonly folder: string;
  readonly path: string;
  readonly kind: FileKind;
  readonly version: FileVersion;
  readonly size: number;
  /** Reason for the wait, in words: `unchanged for 3.2 of 5 s`. */
  readonly why: string;
  readonly lacksMarker: boolean;
}

/**
 * - `watching`: events and scans are working. `why` holds remarks, for example about a share.
 * - `frozen`: the folder is missing, unmounted or unreadable, belongs to another dropcast, or most of its files are
 *   missing at once. No file is offered or reported gone. `isOffLimits`: nothing in the folder may be touched, because
 *   it belongs to another dropcast, is not responding, or `isBehind`. `isBehind`: the ledger is older than the folder.
 * - `scanning`: events are missing (watch limit, permissions, none arriving), so only scans run, and more often. The
 *   watches are reopened once a scan can read the directory that could not be watched; after a limit was reached, they
 *   are reopened from time to time.
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
  /** What an operator would state by resuming the folder; omitted if that does not end the freeze. */
  readonly claim?: string;
}

/** Thrown by the sink when it cannot accept a report now although nothing is wrong. The watcher silently retries. */
export class NotNowError extends Error {
  override readonly name: string = 'NotNowError';
}

export interface WatchSink {
  /** Offers a file once per (path, version), at most 16 at a time. Repeated only after a rejection. */
  complete(file: CompleteFile): Promise<void>;
  /**
   * Reports that an offered or known path no longer exists. This is certain (ENOENT below a healthy folder). After a
   * rename, the new path is offered first. Repeated only after a rejection.
   */
  gone(path: string): Promise<void>;
  /** Reports, in each scan, a private directory that holds a file being put away. Never rejects. */
  leftBehind(directory: string): Promise<void>;
  /** Reports a closed directory. Repeated only after a rejection, or if the directory was open in between. */
  closed(directory: ClosedDirectory): Promise<void>;
  /** Called after each scan. Must not throw. */
  scanned(): void;
  /** Called on every state change. The first call comes before `begin()` resolves. */
  root(state: RootState): void;
}

export interface RefusedPath {
  /** Path relative to the folder. */
  readonly path: string;
  /** Human-readable reason: `it is a symbolic link`. */
  readonly why: string;
}

/** The memory of a folder, kept across restarts. */
export interface RootRecord {
  /** The directory recognised as the folder; null until one was found. */
  readonly identity: RootIdentity | null;
  /**
   * - `missing`: most files were missing at once, so the folder is frozen. `before`: paths that were given up shortly
   *   before.
   * - `older`: the ledger is older than the folder's mark. This lasts until an operator answers, because files in other
   *   folders advance the ledger.
   * - `resumed`: an operator confirmed the current state, but no scan has run since. `isOlder`: the operator also
   *   confirmed that the ledger is right although it is older.
   */
  readonly doubt: RootDoubt | null;
}

export type RootDoubt =
  | { readonly is: 'missing'; readonly before: readonly string[] }
  | { readonly is: 'older' }
  | { readonly is: 'resumed'; readonly isOlder?: boolean };

export interface RootStore {
  /** @returns null if nothing usable was saved */
  load(folder: string): Promise<unknown>;
  save(folder: string, record: RootRecord): Promise<void>;
  /** Counts how many of these paths should have a file. Files that dropcast moves or deletes do not count. */
  expected(folder: string, paths: readonly string[], which: Expected): Promise<number>;
}

/**
 * Which rows are expected to have a file:
 *
 * - `all`: all files except those given up as vanished.
 * - `unfinished`: files that are still needed. A finished file may have been removed while dropcast was stopped.
 * - `also given up`: all files, including those given up as vanished.
 */
export type Expected = 'all' | 'unfinished' | 'also given up';

export type Resumed =
  | { readonly ok: true; readonly what: string }
  /** `why`: the reason why there is nothing to resume. */
  | { readonly ok: false; readonly why: string };

export interface KnownFile {
  readonly path: string;
  readonly version: FileVersion;
  /** State of the file's row; see `Inventory.becomes`. */
  readonly state: string;
}

/**
 * The files that the ledger holds for a folder. They are offered again only if they have changed, and reported as gone
 * if they are missing.
 */
export interface KnownFiles {
  /** Calls `tell` for each file. If a path occurs repeatedly, the last version counts. */
  known(folder: string, tell: (file: KnownFile) => void): Promise<void>;
}

/**
 * Path counts. Every path seen is in exactly one bucket; `seen` is their sum. An ignored directory counts as one path.
 */
export interface WatchCounts {
  readonly seen: number;
  readonly settling: number;
  /** Files that the sink accepted or that were known before. */
  readonly offered: number;
  /** Temporary names and paths that no pattern includes, as of the last full scan. */
  readonly ignored: number;
  /** Symbolic links, devices, names that are not valid UTF-8, and directories that cannot be read. */
  readonly refused: number;
}

/** Path counts of a folder by account. Each path is in exactly one account at all times. */
export interface Accounts {
  /** Paths known to exist. An ignored directory counts as one path. */
  readonly seen: number;
  readonly settling: number;
  /** Touched files that are being compared with the content already sent. */
  readonly comparing: number;
  /** Row state → number of files. */
  readonly known: Readonly<Record<string, number>>;
  /** Number of sidecars and proofs. */
  readonly sidecars: number;
  readonly ignored: number;
  readonly refused: number;
  /** `seen` minus all other accounts. If not zero, a file was accepted but has no row. */
  readonly unaccounted: number;
}

/** Files that the folder's `include` patterns did not select in its last scan. */
export interface LeftOut {
  readonly files: number;
  /** Number of files that look like video or audio and do not match `exclude`; `include` may lack a pattern. */
  readonly media: number;
  /** Extensions of the media files, such as `.mts`, most frequent first; at most 20. */
  readonly extensions: readonly string[];
  /** Paths of the first files relative to the folder, media first; at most 1,000. */
  readonly paths: readonly string[];
}

/** How a folder is watched, with the times of its last event and scan. */
export interface WatchActivity {
  /** How new files are found. If events report only some of them, scans also run every few seconds. */
  readonly by: 'events' | 'events and scans' | 'scans';
  /** Null if no event has arrived since the start. */
  readonly heardMsAgo: number | null;
  readonly scans: ScanTimes;
  readonly lackMarkers: number;
  readonly leftOut: LeftOut;
}

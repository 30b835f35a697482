import type { FileVersion } from '../pipeline/file/file-version.ts';

/** `link` is a file that names a remote address (`.url`, `.webloc`); `sidecar` holds the metadata of a neighbour. */
export type FileKind = 'media' | 'link' | 'sidecar';

export interface WatchedFolder {
  /** Absolute. */
  readonly path: string;
  /** Unchanged for so long = complete. */
  readonly settleMs: number;
  /** Between two full scans, jittered to 3/4–5/4 of it. */
  readonly rescanMs: number;
  /** `polling` has no watcher at all, only scans: for shares whose writers are on other machines. */
  readonly watch: 'auto' | 'native' | 'polling';
  /** What a relative path is to us; include, exclude and sidecar names are the caller's. `null`: not ours. */
  readonly accepts: (path: string) => FileKind | null;
  /** Absolute paths of watched folders inside this one: never entered, they have their own watcher. */
  readonly nested: readonly string[];
}

/** A file whose bytes are all there as far as waiting can tell. */
export interface CompleteFile {
  readonly folder: string;
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly kind: FileKind;
  readonly version: FileVersion;
  /** Why it must not be sent although waiting no longer helps, in words; `null` is a sound file. */
  readonly flaw: string | null;
}

export interface SettlingFile {
  readonly folder: string;
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** What it waits for, in words: `unchanged for 3.2 of 5 s`. */
  readonly why: string;
}

/**
 * - `watching`: events and scans.
 * - `frozen`: the root is missing, unmounted or unreadable. Nothing is offered, nothing is reported gone.
 * - `degraded`: the events are incomplete (watch limit, permissions); scans carry on alone, more often. The watches are opened
 *   anew as soon as a scan can read what could not be watched, after a limit from time to time.
 */
export type RootState =
  | { readonly state: 'watching' }
  | { readonly state: 'frozen'; readonly why: string }
  | { readonly state: 'degraded'; readonly why: string };

export interface WatchSink {
  /** Once per (path, version), at most 16 at a time; offered again only if it rejected. */
  complete(file: CompleteFile): Promise<void>;
  /**
   * A path that was offered, or known, is no longer there: certain (ENOENT below a healthy root). After a rename it comes
   * after the file was offered under its new path. Reported again only if it rejected.
   */
  gone(folder: string, path: string): Promise<void>;
  /** Called on every change of the state, first before `begin()` resolves. */
  root(folder: string, state: RootState): void;
}

export interface RefusedPath {
  /** Relative to the folder. */
  readonly path: string;
  /** In words: `it is a symbolic link`. */
  readonly why: string;
}

/** What the ledger has of a folder: not offered again unless changed, reported gone when missing. */
export interface KnownFiles {
  known(folder: string): Promise<Iterable<{ readonly path: string; readonly version: FileVersion }>>;
}

/** Every path seen is in exactly one bucket: `seen` is the sum of the others. A directory left alone counts as one path. */
export interface WatchCounts {
  readonly seen: number;
  readonly settling: number;
  /** Taken by the sink, or known before. */
  readonly offered: number;
  /** Temporary names and paths that nothing includes, as of the last full scan. */
  readonly ignored: number;
  /** Symbolic links, devices, names that are not UTF-8, directories that cannot be read. */
  readonly refused: number;
}

export interface FolderWatcher extends AsyncDisposable {
  /** Looks only at the folder itself: resolves when it is known whether it can be trusted. */
  begin(): Promise<void>;
  /** Begins, and resolves after the first full scan, or soon after it was disposed of. */
  start(): Promise<void>;
  /** A full scan that begins after the call. */
  rescan(): Promise<void>;
  /**
   * Asks the disk now: why what is missing in the folder proves nothing, or null.
   *
   * @param missing a path that was not found, as the caller then believes: should it be there again, it is offered again
   */
  whyAway(missing?: string): Promise<string | null>;
  settling(): readonly SettlingFile[];
  counts(): WatchCounts;
  /** One of the refused paths, to begin with. */
  firstRefused(): RefusedPath | null;
}

import { posix } from 'node:path';
import type { FolderConfig } from '../config/config.ts';
import { folded } from '../routing/text.ts';
import { stemOf } from '../routing/sidecar.ts';
import { isTakenIn } from '../watch/ports.ts';
import type { LeftOut } from '../watch/ports.ts';
import type {
  Accounts,
  CompleteFile,
  FileKind,
  RefusedPath,
  SettlingFile,
  WatchActivity,
  WatchCounts,
} from '../watch/ports.ts';
import type { FolderWatcher } from '../watch/watcher.ts';

export interface FolderStatus {
  readonly path: string;
  readonly state: 'starting' | 'watching' | 'scanning' | 'frozen';
  readonly why: string | null;
  /** Path counts. Every path in the folder is in exactly one bucket. */
  readonly paths: WatchCounts;
  readonly accounts: Accounts;
  readonly refused: RefusedPath | null;
  readonly refused_paths: readonly RefusedPath[];
  /** Files that `include` does not select. */
  readonly left_out: LeftOut;
  readonly by: WatchActivity['by'];
  /** Last event, in epoch milliseconds; null if none since the start. */
  readonly last_event_at: number | null;
  /** End and duration of the last scan, and time of the next one; null if none has ended or none is planned. */
  readonly last_scan_at: number | null;
  readonly last_scan_ms: number | null;
  readonly next_scan_at: number | null;
  readonly is_scanning: boolean;
  /** Name of the done markers; null if files need none. */
  readonly done_marker: string | null;
  readonly without_marker: number;
  /** Files that look like sidecars but have no matching video. */
  readonly lone_sidecars: LoneSidecarsView;
}

/** @param known the parts of the status that the watcher cannot supply */
export function folderStatus(
  watcher: FolderWatcher,
  { path, doneMarker }: FolderConfig,
  known: Pick<FolderStatus, 'accounts' | 'lone_sidecars' | 'state' | 'why'>,
): FolderStatus {
  const { by, heardMsAgo, scans, lackMarkers, leftOut } = watcher.activity();
  const now = Date.now();
  const refused = watcher.refused(mostRefused);
  const ago = (ms: number | null): number | null => (ms === null ? null : Math.round(now - ms));
  return {
    path,
    paths: watcher.counts(),
    accounts: known.accounts,
    refused: refused[0] ?? null,
    refused_paths: refused,
    left_out: leftOut,
    by,
    last_event_at: ago(heardMsAgo),
    last_scan_at: ago(scans.endedMsAgo),
    last_scan_ms: scans.tookMs === null ? null : Math.round(scans.tookMs),
    next_scan_at: scans.nextInMs === null ? null : Math.round(now + scans.nextInMs),
    is_scanning: scans.isScanning,
    done_marker: doneMarker,
    without_marker: lackMarkers,
    lone_sidecars: known.lone_sidecars,
    state: known.state,
    why: known.why,
  };
}

const mostRefused = 100;

/** Returns the videos and links that are settling or being compared, each once. */
export function videosSettling(
  settling: readonly SettlingFile[],
  compared: readonly CompleteFile[],
): readonly SettlingFile[] {
  const videos = settling.filter(({ kind }) => isTakenIn(kind));
  const paths = new Set(videos.map(({ path }) => path));
  const others = compared.filter(({ path }) => !paths.has(path));
  return [
    ...videos,
    ...others.map((file) => ({ ...file, size: file.version.size, why: whyCompared, lacksMarker: false })),
  ];
}

const whyCompared = 'touched: it is being compared with what was sent';

/** Returns the length of `videosSettling` without creating an object per file. */
export function countVideosSettling(
  settling: Iterable<{ readonly path: string; readonly kind: FileKind }>,
  compared: readonly CompleteFile[],
): number {
  const paths = new Set(compared.map(({ path }) => path));
  let count = paths.size;
  for (const { path, kind } of settling) if (isTakenIn(kind) && !paths.has(path)) count += 1;
  return count;
}

interface LoneSidecarsView {
  readonly files: number;
  /** Paths of some of them, relative to the folder. */
  readonly first: readonly string[];
}

/** Collects a folder's sidecars whose video has not arrived. */
export function createLoneSidecars() {
  /** Name or stem that the video would have → sidecar paths. */
  const sidecars = new Map<string, Set<string>>();
  return {
    add: (sidecarPath: string): void => {
      const key = keyOf(stemOf(sidecarPath));
      sidecars.set(key, (sidecars.get(key) ?? new Set()).add(sidecarPath));
    },
    delete: (sidecarPath: string): void => {
      const key = keyOf(stemOf(sidecarPath));
      const paths = sidecars.get(key);
      if (paths?.delete(sidecarPath) === true && paths.size === 0) sidecars.delete(key);
    },
    /** Removes the sidecars of a video that has arrived. */
    matched: (path: string): void => {
      if (sidecars.size > 0) for (const key of keysOf(path)) sidecars.delete(key);
    },
    paths: (): readonly string[] => [...sidecars.values()].flatMap((paths) => [...paths]),
    /** @param waiting paths of videos that are still settling */
    view: (waiting: Iterable<string>): LoneSidecarsView => {
      if (sidecars.size === 0) return { files: 0, first: [] };
      const isExpected = new Set<string>();
      for (const path of waiting) for (const key of keysOf(path)) isExpected.add(key);
      const lone = [...sidecars].flatMap(([key, paths]) => (isExpected.has(key) ? [] : [...paths]));
      return { files: lone.length, first: lone.slice(0, MOST_NAMED) };
    },
  };
}

const MOST_NAMED = 3;

function keysOf(path: string): readonly string[] {
  const { dir, name, base } = posix.parse(path);
  return [keyOf(posix.join(dir, name)), keyOf(posix.join(dir, base))];
}

function keyOf(stem: string): string {
  const { dir, base } = posix.parse(stem);
  return posix.join(dir, folded(base));
}

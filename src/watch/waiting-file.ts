import { posix } from 'node:path';
import { grewInPlace, isUntouched } from '../pipeline/file/file-version.ts';
import type { ContentVersion, FileVersion } from '../pipeline/file/file-version.ts';
import { durationWords } from './clock.ts';
import type { FileKind, WatchSettings } from './ports.ts';
import { lookAt } from './path-entry.ts';
import type { PathEntry } from './path-entry.ts';

/** A file that was seen but not yet accepted by the sink. All times are from the monotonic clock. */
export interface WaitingFile {
  readonly path: string;
  readonly kind: FileKind;
  version: FileVersion;
  /** Time at which this version was first seen. */
  sinceMs: number;
  longestGapMs: number;
  lookedAtMs: number;
  /** True while the file is being checked or offered. Changes in the meantime only set `disturbed`. */
  busy: boolean;
  disturbed: boolean;
  /** Time at which a process was first found to have the unchanged file open for writing. */
  vetoedSinceMs: number | null;
  lacksMarker: boolean;
  rejections: number;
  /** State of the file's row, which may exist before the sink has accepted the file; `null` if there is no row. */
  state: string | null;
  /** Why the file is waiting; `null` if it only has to stay unchanged. */
  why: string | null;
}

/**
 * Starts the wait of a file that is seen for the first time or has changed since it was accepted.
 *
 * @param nowMs of the monotonic clock
 * @param longestGapMs the known pause of its writer; see `pauseBefore`
 */
export function startWaiting(
  path: string,
  kind: FileKind,
  version: FileVersion,
  nowMs: number,
  longestGapMs = 0,
): WaitingFile {
  return {
    path,
    kind,
    version,
    sinceMs: nowMs,
    longestGapMs,
    lookedAtMs: nowMs,
    busy: false,
    disturbed: false,
    vetoedSinceMs: null,
    lacksMarker: false,
    rejections: 0,
    state: null,
    why: null,
  };
}

/**
 * Records the version that a check found. A changed file starts waiting again, and its writer's pause is remembered.
 *
 * @returns whether the version changed
 */
export function noteVersion(file: WaitingFile, version: FileVersion, nowMs: number): boolean {
  file.lookedAtMs = nowMs;
  if (isUntouched(file.version, version)) return false;
  const isWrite = file.version.size !== version.size || file.version.mtimeNs !== version.mtimeNs;
  if (isWrite) file.longestGapMs = Math.max(file.longestGapMs, nowMs - file.sinceMs);
  Object.assign(file, { version, sinceMs: nowMs, vetoedSinceMs: null, rejections: 0, why: null });
  return true;
}

/**
 * Returns how long a writer paused if its file grew in place after being accepted. Without this, a file whose writer
 * pauses regularly would be sent once per pause. The pause is the difference of inode change times: these survive a
 * restart, and a copy that keeps its original's modification time does not look like a pause of years.
 *
 * @param taken the accepted version; undefined if there is none
 * @returns milliseconds; 0 for a different file or one that did not grow
 */
export function pauseBefore(taken: ContentVersion | undefined, version: FileVersion): number {
  if (taken === undefined || !grewInPlace(taken, version)) return 0;
  return Math.max(0, Number(BigInt(version.ctimeNs) - BigInt(taken.ctimeNs)) / 1e6);
}

/** Returns how long the file must stay unchanged: `settleMs`, or three times the longest pause, up to five minutes. */
export function requiredMs(file: WaitingFile, settleMs: number): number {
  return Math.max(settleMs, Math.min(3 * file.longestGapMs, LONGEST_LEARNED_WAIT_MS));
}

/** Returns how long a file that looks unfinished may stay unchanged before it counts as flawed. */
export function graceMs(settleMs: number): number {
  return Math.max(10 * settleMs, 30_000);
}

export function whyItWaits(file: WaitingFile, settleMs: number, nowMs: number): string {
  if (file.why !== null) return file.why;
  const required = requiredMs(file, settleMs);
  const passed = Math.min(nowMs - file.sinceMs, required);
  const paused = required > settleMs ? ` (its writer paused ${durationWords(file.longestGapMs)} before)` : '';
  const isBrief = required < 60_000;
  return `unchanged for ${isBrief ? (passed / 1_000).toFixed(1) : durationWords(passed)} of ${durationWords(required)}${paused}`;
}

/**
 * Limit for learned waits, so that a pause of an hour does not mean a wait of three. If writing continues, the file is
 * sent again.
 */
const LONGEST_LEARNED_WAIT_MS = 300_000;

/** A folder whose senders signal complete files with done markers. */
export type MarkedFolder = Pick<WatchSettings, 'path' | 'markerOf'>;

/**
 * What a marker proves. `older`: the marker predates the file's last change and may belong to an earlier version, so
 * the settle time decides, as without a marker.
 */
type MarkerWord = 'not wanted' | 'missing' | 'older' | 'proves it';

/** Compares a file with its marker by inode change time, which programs cannot set. */
export async function markerWord(folder: MarkedFolder, { path, version }: WaitingFile): Promise<MarkerWord> {
  const marker = folder.markerOf(path);
  if (marker === null) return 'not wanted';
  const entry = await lookAtMarker(folder.path, marker);
  if (entry.is !== 'file') return 'missing';
  return BigInt(entry.version.ctimeNs) < BigInt(version.ctimeNs) ? 'older' : 'proves it';
}

/** Looks for a marker in both Unicode forms of its name. */
export async function lookAtMarker(folder: string, marker: string): Promise<PathEntry> {
  const name = posix.basename(marker);
  const names = [...new Set([name, name.normalize('NFC'), name.normalize('NFD')])];
  const entries = await Promise.all(names.map((name) => lookAt(posix.join(folder, posix.dirname(marker), name))));
  return entries.find(({ is }) => is === 'file') ?? entries[0] ?? { is: 'missing' };
}

/** Files that are waiting for their done markers. */
export class AwaitedMarkers {
  readonly #folder: MarkedFolder;
  readonly #waiting: ReadonlyMap<string, WaitingFile>;
  /** Marker name in Unicode form NFC → files that asked for it. Some may no longer be waiting. */
  readonly #awaited = new Map<string, Set<string>>();
  #prunedAt = 0;

  constructor(folder: MarkedFolder, waiting: ReadonlyMap<string, WaitingFile>) {
    this.#folder = folder;
    this.#waiting = waiting;
  }

  /**
   * Registers a path that appeared or changed.
   * @returns the files to look at: the path itself if it needs a marker, or the files that the path is the marker for
   */
  readyWith(path: string): readonly string[] {
    const marker = this.#folder.markerOf(path);
    if (marker === null)
      return [...(this.#awaited.get(path.normalize()) ?? [])].filter((file) => this.#waiting.has(file));
    const key = marker.normalize();
    this.#awaited.set(key, (this.#awaited.get(key) ?? new Set()).add(path));
    this.#prune();
    return [path];
  }

  /** Drops markers that no file is waiting for. Runs each time the map has doubled. */
  #prune(): void {
    if (this.#awaited.size < 2 * this.#prunedAt + LEAST_PRUNED) return;
    for (const [marker, files] of this.#awaited)
      if (![...files].some((file) => this.#waiting.has(file))) this.#awaited.delete(marker);
    this.#prunedAt = this.#awaited.size;
  }
}

const LEAST_PRUNED = 1000;

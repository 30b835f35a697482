import { grewInPlace, isUntouched } from '../pipeline/file/file-version.ts';
import type { ContentVersion, FileVersion } from '../pipeline/file/file-version.ts';
import { durationWords } from './duration-words.ts';
import type { FileKind } from './ports.ts';

/** A file that was seen and that the sink does not have yet. Times are of the monotonic clock. */
export interface WaitingFile {
  readonly path: string;
  readonly kind: FileKind;
  version: FileVersion;
  /** Since when the version is unchanged. */
  sinceMs: number;
  /** The longest pause between two writes to it that we saw. */
  longestGapMs: number;
  /** The last time we looked at it. */
  lookedAtMs: number;
  /** A look, check or offer is under way: what is seen meanwhile only sets `disturbed`. */
  busy: boolean;
  disturbed: boolean;
  /** Since when a process has it open for writing although nothing changes. */
  vetoedSinceMs: number | null;
  /** The file that says that it is complete is not there. */
  lacksMarker: boolean;
  /** How often the sink rejected this version. */
  rejections: number;
  /** Of the row that stands for it already, while it is being taken in; `null` when there is none. */
  state: string | null;
  /** What it waits for beyond staying unchanged; `null` while that is all. */
  why: string | null;
}

/**
 * A file that is seen for the first time, or that changed after it was taken.
 *
 * @param nowMs of the monotonic clock
 * @param longestGapMs the pause of its writer that is known already; see `pauseBefore`
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
 * Notes what a look at the file found. A changed file starts to wait again and remembers how long its writer had paused.
 *
 * @returns whether it changed
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
 * The pause of a writer that continued after its file had been taken: the file grew in its place. Without it, a writer with equal pauses
 * would send its file once for each of them. The change times of the inode tell the pause: a restart forgets nothing, and a copy that keeps
 * the modification time of its original does not look like a pause of years.
 *
 * @param taken the version that was taken; undefined when none was
 * @returns milliseconds, 0 when the file is another one or did not grow
 */
export function pauseBefore(taken: ContentVersion | undefined, version: FileVersion): number {
  if (taken === undefined || !grewInPlace(taken, version)) return 0;
  return Math.max(0, Number(BigInt(version.ctimeNs) - BigInt(taken.ctimeNs)) / 1e6);
}

/** How long it has to stay unchanged: `settleMs`, but three times the longest pause of its writer, up to five minutes. */
export function requiredMs(file: WaitingFile, settleMs: number): number {
  return Math.max(settleMs, Math.min(3 * file.longestGapMs, LONGEST_LEARNED_WAIT_MS));
}

/** How long a file that looks unfinished may stay unchanged before it counts as flawed. */
export function graceMs(settleMs: number): number {
  return Math.max(10 * settleMs, 30_000);
}

/** What it waits for, for a person. */
export function whyItWaits(file: WaitingFile, settleMs: number, nowMs: number): string {
  if (file.why !== null) return file.why;
  const required = requiredMs(file, settleMs);
  const passed = Math.min(nowMs - file.sinceMs, required);
  const paused = required > settleMs ? ` (its writer paused ${durationWords(file.longestGapMs)} before)` : '';
  const isBrief = required < 60_000;
  return `unchanged for ${isBrief ? (passed / 1_000).toFixed(1) : durationWords(passed)} of ${durationWords(required)}${paused}`;
}

/** A writer that paused for an hour is not given three hours: if it comes back, its file is sent again. */
const LONGEST_LEARNED_WAIT_MS = 300_000;

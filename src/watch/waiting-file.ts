import { grewInPlace, isUntouched } from '../pipeline/file/file-version.ts';
import type { ContentVersion, FileVersion } from '../pipeline/file/file-version.ts';
import { durationWords } from './clock.ts';
import type { FileKind } from './ports.ts';

/** A file that was seen but not yet accepted by the sink. All times are from the monotonic clock. */
export interface WaitingFile {
  readonly path: string;
  readonly kind: FileKind;
  version: FileVersion;
  /** Time at which this version was first seen. */
  sinceMs: number;
  /** Longest pause observed between two writes. */
  longestGapMs: number;
  /** Time of the last check. */
  lookedAtMs: number;
  /** True while the file is being checked or offered. Changes in the meantime only set `disturbed`. */
  busy: boolean;
  disturbed: boolean;
  /** Time at which a process was first found to have the unchanged file open for writing. */
  vetoedSinceMs: number | null;
  /** Whether the done marker is missing. */
  lacksMarker: boolean;
  /** Number of times that the sink rejected this version. */
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

/** Returns a human-readable reason for the wait. */
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

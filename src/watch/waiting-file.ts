import { grewInPlace, isUntouched } from '../pipeline/file/file-version.ts';
import type { ContentVersion, FileVersion } from '../pipeline/file/file-version.ts';
import { durationWords } from './clock.ts';
import type { FileKind } from './ports.ts';

/** A file that was seen, and that the sink did not take yet. Times are of the monotonic clock. */
export interface WaitingFile {
  readonly path: string;
  readonly kind: FileKind;
  version: FileVersion;
  /** The version is unchanged since then. */
  sinceMs: number;
  /** The longest pause between two writes that we saw. */
  longestGapMs: number;
  /** The last time we looked at it. */
  lookedAtMs: number;
  /** A look, check or offer is under way: changes in the meantime only set `disturbed`. */
  busy: boolean;
  disturbed: boolean;
  /** A process has it open for writing since then, although nothing changes. */
  vetoedSinceMs: number | null;
  /** Its done marker is missing. */
  lacksMarker: boolean;
  /** How often the sink rejected this version. */
  rejections: number;
  /** The state of its row, which may exist while the file is being accepted; `null`: no row. */
  state: string | null;
  /** Why it waits; `null`: it only has to stay unchanged. */
  why: string | null;
}

/**
 * Starts the wait of a file that is seen for the first time, or that changed after it was taken.
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
 * Records the version that a look found. A changed file starts to wait again and remembers the pause of its writer.
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
 * The pause of a writer that continued after its file was taken: the file grew in place. Without it, the file of a
 * writer with equal pauses would be sent once for each of them. The inode change times give the pause: it survives a
 * restart, and a copy that keeps the modification time of its original does not look like a pause of years.
 *
 * @param taken the version that was taken; undefined when none was
 * @returns milliseconds; 0 for another file, or one that did not grow
 */
export function pauseBefore(taken: ContentVersion | undefined, version: FileVersion): number {
  if (taken === undefined || !grewInPlace(taken, version)) return 0;
  return Math.max(0, Number(BigInt(version.ctimeNs) - BigInt(taken.ctimeNs)) / 1e6);
}

/** How long the file must stay unchanged: `settleMs`, or three times the longest pause, up to five minutes. */
export function requiredMs(file: WaitingFile, settleMs: number): number {
  return Math.max(settleMs, Math.min(3 * file.longestGapMs, LONGEST_LEARNED_WAIT_MS));
}

/** How long a file that looks unfinished may stay unchanged before it counts as flawed. */
export function graceMs(settleMs: number): number {
  return Math.max(10 * settleMs, 30_000);
}

/** The reason for the wait, for people. */
export function whyItWaits(file: WaitingFile, settleMs: number, nowMs: number): string {
  if (file.why !== null) return file.why;
  const required = requiredMs(file, settleMs);
  const passed = Math.min(nowMs - file.sinceMs, required);
  const paused = required > settleMs ? ` (its writer paused ${durationWords(file.longestGapMs)} before)` : '';
  const isBrief = required < 60_000;
  return `unchanged for ${isBrief ? (passed / 1_000).toFixed(1) : durationWords(passed)} of ${durationWords(required)}${paused}`;
}

/** After a pause of an hour the file does not wait three hours: if its writer continues, the file is sent again. */
const LONGEST_LEARNED_WAIT_MS = 300_000;

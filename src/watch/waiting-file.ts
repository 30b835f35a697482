import { isUntouched } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { FileKind } from './sighting.ts';

/** A file that was seen and is not taken by the sink yet. Times are of the monotonic clock. */
export interface WaitingFile {
  readonly path: string;
  readonly kind: FileKind;
  version: FileVersion;
  /** Since when the version was seen unchanged. */
  sinceMs: number;
  /** The longest pause between two writes to it that we saw. */
  longestGapMs: number;
  /** The last time it was looked at. */
  lookedAtMs: number;
  /** A look, proof or offer is under way: what is seen meanwhile only leaves `disturbed`. */
  busy: boolean;
  disturbed: boolean;
  /** Since when a writer is seen although nothing changes. */
  vetoedSinceMs: number | null;
  /** Offers of this version that the sink rejected. */
  rejections: number;
  /** What it waits for beyond standing still; `null` while that is all. */
  why: string | null;
}

export function startWaiting(path: string, kind: FileKind, version: FileVersion, nowMs: number): WaitingFile {
  return {
    path,
    kind,
    version,
    sinceMs: nowMs,
    longestGapMs: 0,
    lookedAtMs: nowMs,
    busy: false,
    disturbed: false,
    vetoedSinceMs: null,
    rejections: 0,
    why: null,
  };
}

/** Takes in what was seen. A changed file starts to wait anew and remembers how long its writer had paused. Tells if it changed. */
export function takeSighting(file: WaitingFile, version: FileVersion, nowMs: number): boolean {
  file.lookedAtMs = nowMs;
  if (isUntouched(file.version, version)) return false;
  const isWrite = file.version.size !== version.size || file.version.mtimeNs !== version.mtimeNs;
  if (isWrite) file.longestGapMs = Math.max(file.longestGapMs, nowMs - file.sinceMs);
  Object.assign(file, { version, sinceMs: nowMs, vetoedSinceMs: null, rejections: 0, why: null });
  return true;
}

/**
 * How long it has to stand still: `settleMs`, but three times the longest pause of its writer, up to a minute.
 */
export function requiredMs(file: WaitingFile, settleMs: number): number {
  return Math.max(settleMs, Math.min(3 * file.longestGapMs, LONGEST_LEARNED_WAIT_MS));
}

/** How long a file that looks unfinished may stand still before it is called flawed. */
export function graceMs(settleMs: number): number {
  return Math.max(10 * settleMs, 30_000);
}

/** For a person: what it waits for. */
export function whyItWaits(file: WaitingFile, settleMs: number, nowMs: number): string {
  if (file.why !== null) return file.why;
  const required = requiredMs(file, settleMs);
  const passed = Math.min(nowMs - file.sinceMs, required);
  return `unchanged for ${(passed / 1000).toFixed(1)} of ${Number((required / 1000).toFixed(1))} s`;
}

const LONGEST_LEARNED_WAIT_MS = 60_000;

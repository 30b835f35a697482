import type { RunTotals } from '../run/run-tally.ts';

export interface ProgressView {
  /** Files that are in motion, changed since the last view or just finished, and some that are waiting. */
  readonly files: readonly FileProgress[];
  /** Number of active files not in `files`. */
  readonly more: number;
  /** Null for a single file, which needs no totals. */
  readonly totals: RunTotals | null;
  /** Null if requests are not counted. */
  readonly requests: Requests | null;
}

export interface Requests {
  readonly used: number;
  readonly limit: number;
  /** When the budget allows the next request, in milliseconds of `performance.now()`; null if nothing is waiting. */
  readonly waitingUntil: number | null;
}

export interface FileProgress {
  readonly id: string;
  readonly name: string;
  /** The current stage or final state: `uploading`, `processing`, `done`, … */
  readonly stage: string;
  /** Whether the file is waiting to retry its stage. */
  readonly isRetrying?: boolean | undefined;
  readonly sentBytes: number;
  readonly sizeBytes: number;
  /** Why the file is waiting or finished. */
  readonly why: string | null;
}

const ended: ReadonlySet<string> = new Set(['done', 'failed', 'held', 'skipped', 'ignored', 'vanished', 'superseded']);

export function hasEnded({ stage }: FileProgress): boolean {
  return ended.has(stage);
}

/** Measures the current rate of each file and of all files together. */
export class TransferRates {
  #files: ReadonlyMap<string, readonly Sample[]> = new Map();
  #total: readonly Sample[] = [];

  /** Adds a sample for each file and for the total. Forgets files that are no longer listed. */
  observe(view: ProgressView, nowMs: number): void {
    const known = this.#files;
    this.#files = new Map(
      view.files.map(({ id, sentBytes }) => [id, withSample(known.get(id) ?? [], { atMs: nowMs, bytes: sentBytes })]),
    );
    if (view.totals !== null) this.#total = withSample(this.#total, { atMs: nowMs, bytes: view.totals.sentBytes });
  }

  /** Bytes per second; null if not yet known. */
  ofFile(id: string, nowMs: number): number | null {
    return bytesPerSecond(this.#files.get(id) ?? [], nowMs);
  }

  ofAll(nowMs: number): number | null {
    return bytesPerSecond(this.#total, nowMs);
  }
}

/** Bytes sent by a given time on a monotonic clock. */
export interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/** Period over which rates are averaged. */
const WINDOW_MS = 5_000;
/** Minimum time between samples. Closer ones are merged, because a rate over less time is noise. */
const MIN_STEP_MS = 100;
const MIN_SPAN_MS = 300;
/** Longest useful estimate, 30 days. */
const MAX_ETA_MS = 30 * 24 * 3_600_000;

/**
 * Adds a sample and drops those that the window no longer needs. Starts over if bytes or time go backwards (a new
 * attempt).
 */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  if (!Number.isFinite(sample.bytes) || !Number.isFinite(sample.atMs)) return samples;
  const last = samples.at(-1);
  if (last && (sample.bytes < last.bytes || sample.atMs < last.atMs)) return [sample];
  const beforeLast = samples.at(-2);
  const isClose = beforeLast !== undefined && last !== undefined && last.atMs - beforeLast.atMs < MIN_STEP_MS;
  return inWindow([...(isClose ? samples.slice(0, -1) : samples), sample], sample.atMs);
}

/** Bytes per second over the last 5 s. Falls to 0 if nothing moves; null if there are too few samples. */
export function bytesPerSecond(samples: readonly Sample[], nowMs: number): number | null {
  const [first] = inWindow(samples, nowMs);
  const last = samples.at(-1);
  if (!first || !last) return null;
  const spanMs = nowMs - first.atMs;
  if (!(spanMs >= MIN_SPAN_MS)) return null;
  return Math.max(0, ((last.bytes - first.bytes) * 1_000) / spanMs);
}

/** Milliseconds until `remainingBytes` are sent at this rate; null if unknown. */
export function etaMs(remainingBytes: number, rate: number | null): number | null {
  if (remainingBytes <= 0) return 0;
  if (rate === null) return null;
  // The estimate is Infinity if nothing moves.
  const eta = (remainingBytes * 1_000) / rate;
  return eta <= MAX_ETA_MS ? eta : null;
}

/** Drops samples before the window, except the last of them, so that the whole window is covered. */
function inWindow(samples: readonly Sample[], nowMs: number): readonly Sample[] {
  const start = samples.findLastIndex(({ atMs }) => atMs <= nowMs - WINDOW_MS);
  return start === -1 ? samples : samples.slice(start);
}

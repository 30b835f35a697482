import type { ProgressView } from './progress-view.ts';

/** Measures the rate of each file and of all files over the last seconds. */
export class TransferRates {
  #files: ReadonlyMap<string, readonly Sample[]> = new Map();
  #total: readonly Sample[] = [];

  /** Files that are no longer listed are forgotten. */
  observe(view: ProgressView, nowMs: number): void {
    const known = this.#files;
    this.#files = new Map(
      view.files.map(({ id, sentBytes }) => [id, withSample(known.get(id) ?? [], { atMs: nowMs, bytes: sentBytes })]),
    );
    if (view.totals !== null) this.#total = withSample(this.#total, { atMs: nowMs, bytes: view.totals.sentBytes });
  }

  /** Bytes per second; null when unknown yet. */
  ofFile(id: string, nowMs: number): number | null {
    return bytesPerSecond(this.#files.get(id) ?? [], nowMs);
  }

  ofAll(nowMs: number): number | null {
    return bytesPerSecond(this.#total, nowMs);
  }
}

/** Bytes sent at a time of a monotonic clock. */
export interface Sample {
  readonly atMs: number;
  readonly bytes: number;
}

/** Rates are averaged over this time. */
const WINDOW_MS = 5_000;
/** Samples closer together are merged; a rate over less time is noise. */
const MIN_STEP_MS = 100;
const MIN_SPAN_MS = 300;
/** An estimate beyond 30 days is useless. */
const MAX_ETA_MS = 30 * 24 * 3_600_000;

/**
 * Adds a sample and drops those that the window no longer needs. Starts over when bytes or time go back (a new
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

/** Bytes per second over the last 5 s; falls to 0 when nothing moves; null with too few samples. */
export function bytesPerSecond(samples: readonly Sample[], nowMs: number): number | null {
  const [first] = inWindow(samples, nowMs);
  const last = samples.at(-1);
  if (!first || !last) return null;
  const spanMs = nowMs - first.atMs;
  if (!(spanMs >= MIN_SPAN_MS)) return null;
  return Math.max(0, ((last.bytes - first.bytes) * 1_000) / spanMs);
}

/** Milliseconds until `remainingBytes` are sent at that rate; null when unknown. */
export function etaMs(remainingBytes: number, rate: number | null): number | null {
  if (remainingBytes <= 0) return 0;
  if (rate === null) return null;
  // Infinity when nothing moves.
  const eta = (remainingBytes * 1_000) / rate;
  return eta <= MAX_ETA_MS ? eta : null;
}

/** Starts with the last sample before the window, so that the whole window is covered. */
function inWindow(samples: readonly Sample[], nowMs: number): readonly Sample[] {
  const start = samples.findLastIndex(({ atMs }) => atMs <= nowMs - WINDOW_MS);
  return start === -1 ? samples : samples.slice(start);
}

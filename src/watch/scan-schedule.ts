import type { MonotonicClock } from './clock.ts';

interface ScanScheduleOptions {
  readonly clock: MonotonicClock;
  readonly signal: AbortSignal;
  /** Returns the time from the end of a scan to the next one. */
  readonly interval: () => ScanInterval;
  /** Must not reject. */
  readonly scan: () => Promise<void>;
}

export interface ScanInterval {
  readonly ms: number;
  readonly isUrgent: boolean;
}

/** Times of the last and the next scan; null if there was none or none is planned. */
export interface ScanTimes {
  readonly isScanning: boolean;
  readonly endedMsAgo: number | null;
  readonly tookMs: number | null;
  readonly nextInMs: number | null;
}

/**
 * Decides when and how deeply to scan a folder. Scans never overlap; requests during a scan lead to one further scan. A
 * deep scan checks the version of every file; other scans check known files by name only. Owns one timer.
 */
export class ScanSchedule implements AsyncDisposable {
  readonly #options: ScanScheduleOptions;
  #running: Promise<void> = Promise.resolve();
  #queued: Promise<void> | null = null;
  #isDeepWanted = true;
  #sinceDeep = 0;
  #tookMs = 0;
  #isScanning = false;
  #endedAt: number | null = null;
  #nextAt: number | null = null;
  #cancelNext: (() => void) | null = null;

  constructor(options: ScanScheduleOptions) {
    this.#options = options;
  }

  times(): ScanTimes {
    const now = this.#options.clock.elapsed();
    return {
      isScanning: this.#isScanning,
      endedMsAgo: this.#endedAt === null ? null : now - this.#endedAt,
      tookMs: this.#endedAt === null ? null : this.#tookMs,
      nextInMs: this.#nextAt === null || this.#isScanning ? null : Math.max(0, this.#nextAt - now),
    };
  }

  /** Resolves after a deep scan that began after the call. */
  now(): Promise<void> {
    this.#isDeepWanted = true;
    return this.#follow();
  }

  soon(): void {
    if (!this.#options.signal.aborted) void this.now();
  }

  /** Requests a scan that finds new and missing files without checking known ones. */
  namesSoon(): void {
    if (!this.#options.signal.aborted) void this.#follow();
  }

  wantDeep(): void {
    this.#isDeepWanted = true;
  }

  /** Returns the depth of a scan that is about to look at files. */
  takeDepth(isOnlySource: boolean): 'deep' | 'names' {
    const isDeep = this.#isDeepWanted || isOnlySource || this.#sinceDeep >= NAMES_ONLY_SCANS;
    this.#isDeepWanted = false;
    this.#sinceDeep = isDeep ? 0 : this.#sinceDeep + 1;
    return isDeep ? 'deep' : 'names';
  }

  /** Waits for the current scan. Abort the signal first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelNext?.();
    await this.#queued;
    await this.#running;
  }

  #follow(): Promise<void> {
    this.#queued ??= this.#running.then(() => {
      this.#queued = null;
      this.#running = this.#scan();
      return this.#running;
    });
    return this.#queued;
  }

  async #scan(): Promise<void> {
    const { clock, signal, scan } = this.#options;
    if (signal.aborted) return;
    const startedAt = clock.elapsed();
    this.#isScanning = true;
    await scan();
    this.#isScanning = false;
    this.#endedAt = clock.elapsed();
    this.#tookMs = this.#endedAt - startedAt;
    if (signal.aborted) return;
    this.#cancelNext?.();
    const jittered = this.#nextMs() * (0.75 + Math.random() / 2);
    this.#nextAt = this.#endedAt + jittered;
    this.#cancelNext = clock.after(jittered, () => void this.#follow());
  }

  /** Returns the delay before the next scan. Urgent scans are frequent, but use at most a twentieth of the time. */
  #nextMs(): number {
    const { ms, isUrgent } = this.#options.interval();
    return isUrgent ? Math.max(ms, this.#tookMs / LARGEST_SCAN_SHARE) : ms;
  }
}

/** Number of names-only scans between two deep ones. */
const NAMES_ONLY_SCANS = 7;
const LARGEST_SCAN_SHARE = 1 / 20;

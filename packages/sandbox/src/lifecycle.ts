import type { Clock } from './clock.ts';
import type { Events } from './events.ts';
import { seededFraction } from './seeded-random.ts';
import { storageTroubleOf } from './store/storage-trouble.ts';
import type { ProcessingStore } from './store/processing.ts';
import type { Failure, StoredFile } from './store/videos.ts';
import type { Probe } from './media/media-report.ts';

interface LifecycleParts {
  readonly processing: ProcessingStore;
  readonly clock: Clock;
  readonly events: Events;
  readonly seed: number;
  /** Range of the processing time, drawn per video from the seed. */
  readonly processingMs: { readonly min: number; readonly max: number };
  /** Returns the outcome that a fault imposes on the video, if any. */
  readonly fateOf: (videoId: string) => Fate | undefined;
}

/** The outcome that a fault imposes on processing: never finishing, or this failure. */
export type Fate = 'stuck' | Failure;

/**
 * Moves videos from pending through processing to ready or failed. Due times are stored in the records, so a restart
 * changes nothing. Readers call `advance` first; a timer calls it too.
 */
export class Lifecycle {
  readonly #parts: LifecycleParts;
  #timer: NodeJS.Timeout | undefined;

  /** Sets no timer until `advance` is called. @param parts `processingMs`: 0 or more */
  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  /**
   * Finishes every video that is due, and sets the timer for the next. If the disk is full, due videos stay in
   * processing until there is room.
   */
  advance(): void {
    const { processing, clock } = this.#parts;
    clearTimeout(this.#timer);
    const isDone = this.#finishDue();
    const dueAtMs = processing.nextDueAtMs();
    const delayMs = dueAtMs === null ? null : clock.delayUntil(dueAtMs);
    if (!isDone) this.#advanceIn(RETRY_MS);
    else if (delayMs !== null) this.#advanceIn(Math.min(delayMs, MAX_DELAY_MS));
  }

  #advanceIn(delayMs: number): void {
    this.#timer = setTimeout(() => this.advance(), delayMs).unref();
  }

  /** @returns false if the records cannot be written now; throwing in a timer would end the process */
  #finishDue(): boolean {
    const { processing, clock, events } = this.#parts;
    try {
      processing.atOnce(() => {
        for (const { id, status } of processing.finishDue(clock.nowMs()))
          events.emit(status === 'ready' ? 'video.ready' : 'video.failed', id);
      });
      return true;
    } catch (error) {
      if (!storageTroubleOf(error)) throw error;
      return false;
    }
  }

  /** Starts processing the stored file. @returns false if its video is not pending */
  start(file: StoredFile, probe: Probe): boolean {
    const { processing, clock, fateOf } = this.#parts;
    const fate = fateOf(file.videoId);
    const outcome = typeof fate === 'object' ? { isPlayable: false as const, ...fate } : probe;
    const nowMs = clock.nowMs();
    const dueAtMs = fate === 'stuck' ? Number.MAX_SAFE_INTEGER : nowMs + this.#processingMs(file.videoId);
    return processing.startProcessing(file, outcome, { nowMs, dueAtMs });
  }

  /** Marks the video as failed. @returns false if it is already ready, failed or deleted */
  fail(videoId: string, failure: Failure): boolean {
    const { processing, clock, events } = this.#parts;
    return processing.atOnce(() => {
      const isFailed = processing.fail(videoId, failure, clock.nowMs());
      if (isFailed) events.emit('video.failed', videoId);
      return isFailed;
    });
  }

  /** Finishes processing the video immediately. */
  finish(videoId: string): void {
    const { processing, clock } = this.#parts;
    processing.hurry(videoId, clock.nowMs());
    this.advance();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #processingMs(videoId: string): number {
    const { seed, processingMs } = this.#parts;
    const { min, max } = processingMs;
    return Math.round(min + seededFraction(seed, ['processing', videoId]) * (max - min));
  }
}

/**
 * Maximum timer delay. A jump of the system clock goes unnoticed no longer than this, and Node fires delays above 2^31
 * ms immediately.
 */
const MAX_DELAY_MS = 60_000;
/** Delay before the next attempt on a full disk. */
const RETRY_MS = 1000;

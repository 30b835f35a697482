import { rm } from 'node:fs/promises';
import type { Clock } from './clock.ts';
import type { Events } from './events.ts';
import type { MediaFiles } from './store/media-files.ts';
import type { Probe } from './media/verdict.ts';
import { seededFraction } from './seeded-random.ts';
import { storageTroubleOf } from './store/storage-trouble.ts';
import type { Failure, StoredFile, VideoStore } from './store/videos.ts';
import type { ArrivedFile } from './uploads/receive.ts';

export interface LifecycleParts {
  readonly videos: VideoStore;
  readonly mediaFiles: MediaFiles;
  readonly clock: Clock;
  readonly events: Events;
  /** Probes the file at a path. */
  readonly probe: (path: string) => Promise<Probe>;
  readonly seed: number;
  readonly processingMs: { readonly min: number; readonly max: number };
  /** The outcome that a fault imposes on the video, if any. */
  readonly fateOf: (videoId: string) => Fate | undefined;
}

/** The outcome that a fault imposes on processing: never ending, or this failure. */
export type Fate = 'stuck' | Failure;

/** Result for an arrived file: accepted, or too late because the video is complete or deleted. */
export type AcceptResult = 'accepted' | 'already complete' | 'video deleted';

/**
 * Moves videos from pending through processing to ready or failed. The state lives in the records as due
 * times, so a restart changes nothing. Readers call `advance` first, and a timer calls it in between.
 */
export class Lifecycle {
  readonly #parts: LifecycleParts;
  readonly #accepting = new Map<string, Promise<AcceptResult>>();
  #era = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Sets no timer until `advance`. @param parts `processingMs`: the range of the processing time, drawn from the seed per video */
  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  /** Finishes every video that is due, and sets the timer for the next. On a full disk they stay in processing until there is room. */
  advance(): void {
    const { videos, clock } = this.#parts;
    clearTimeout(this.#timer);
    const isDone = this.#finishDue();
    const dueAtMs = videos.nextDueAtMs();
    const delayMs = dueAtMs === null ? null : clock.delayUntil(dueAtMs);
    if (!isDone) this.#advanceIn(RETRY_MS);
    else if (delayMs !== null) this.#advanceIn(Math.min(delayMs, MAX_DELAY_MS));
  }

  #advanceIn(delayMs: number): void {
    this.#timer = setTimeout(() => this.advance(), delayMs).unref();
  }

  /** @returns false if the records cannot be written now; throwing in a timer would end the process */
  #finishDue(): boolean {
    const { videos, clock, events } = this.#parts;
    try {
      videos.atOnce(() => {
        for (const { id, status } of videos.finishDue(clock.nowMs()))
          events.emit(status === 'ready' ? 'video.ready' : 'video.failed', id);
      });
      return true;
    } catch (error) {
      if (!storageTroubleOf(error)) throw error;
      return false;
    }
  }

  /** Changes when all records are replaced. Work begun in an earlier era must not touch a video with the same id. */
  get era(): number {
    return this.#era;
  }

  /**
   * Probes the arrived file of a video and starts the processing. Of several files the first wins.
   * @param era in which the file began to arrive
   */
  async accept(videoId: string, file: ArrivedFile, era = this.#era): Promise<AcceptResult> {
    try {
      const verdict = await this.#parts.probe(file.path);
      const refusal = era === this.#era ? this.#refusal(videoId) : 'video deleted';
      return refusal ?? (await this.#accept(videoId, file, verdict));
    } finally {
      await rm(file.path, { force: true }); // already moved, or not needed
    }
  }

  async #accept(videoId: string, file: ArrivedFile, verdict: Probe): Promise<AcceptResult> {
    const kept = this.#keep(videoId, file, verdict);
    this.#accepting.set(videoId, kept);
    try {
      return await kept;
    } finally {
      this.#accepting.delete(videoId);
    }
  }

  /** Starts a new era with this work, which replaces records and files. No file is being moved into place while it runs. */
  async startNewEra<T>(work: () => T): Promise<T> {
    while (this.#accepting.size > 0) await Promise.allSettled(this.#accepting.values());
    const result = work();
    this.#era += 1;
    this.advance();
    return result;
  }

  /** File first, record second: a crash in between leaves a pending video and a file that the next start removes. */
  async #keep(videoId: string, file: ArrivedFile, verdict: Probe): Promise<AcceptResult> {
    const { videos, mediaFiles, events } = this.#parts;
    let isTaken = false;
    try {
      await mediaFiles.keep(file.path, videoId);
      isTaken = this.#startProcessing({ videoId, sizeBytes: file.sizeBytes, sha256: file.sha256 }, verdict);
    } finally {
      if (!isTaken) await mediaFiles.remove(videoId); // the video was deleted or failed while the file moved, or the record has no room
    }
    if (!isTaken) return videos.find(videoId) ? 'already complete' : 'video deleted';
    events.emit('video.processing', videoId);
    this.advance();
    return 'accepted';
  }

  #startProcessing(file: StoredFile, verdict: Probe): boolean {
    const { videos, clock, fateOf } = this.#parts;
    const fate = fateOf(file.videoId);
    const outcome = typeof fate === 'object' ? { isPlayable: false as const, ...fate } : verdict;
    const nowMs = clock.nowMs();
    const dueAtMs = fate === 'stuck' ? Number.MAX_SAFE_INTEGER : nowMs + this.#processingMs(file.videoId);
    return videos.startProcessing(file, outcome, { nowMs, dueAtMs });
  }

  /** Makes the video fail. @returns false if it is already ready, failed or deleted */
  fail(videoId: string, failure: Failure): boolean {
    const { videos, clock, events } = this.#parts;
    return videos.atOnce(() => {
      const isFailed = videos.fail(videoId, failure, clock.nowMs());
      if (isFailed) events.emit('video.failed', videoId);
      return isFailed;
    });
  }

  /** Ends the processing of the video now. */
  finish(videoId: string): void {
    const { videos, clock } = this.#parts;
    videos.hurry(videoId, clock.nowMs());
    this.advance();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #refusal(videoId: string): Exclude<AcceptResult, 'accepted'> | undefined {
    const video = this.#parts.videos.find(videoId);
    if (!video) return 'video deleted';
    return video.status === 'pending' && !this.#accepting.has(videoId) ? undefined : 'already complete';
  }

  #processingMs(videoId: string): number {
    const { seed, processingMs } = this.#parts;
    const { min, max } = processingMs;
    return Math.round(min + seededFraction(seed, ['processing', videoId]) * (max - min));
  }
}

/** A timer longer than 2^31 ms would fire at once; a clock that jumps is noticed within this time. */
const MAX_DELAY_MS = 60_000;
/** Until the next attempt on a full disk. */
const RETRY_MS = 1000;

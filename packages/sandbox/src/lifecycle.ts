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
  /** Says what the bytes at a path are. */
  readonly probe: (path: string) => Promise<Probe>;
  readonly seed: number;
  readonly processingMs: { readonly min: number; readonly max: number };
  /** What a fault has planned for the video, if anything. */
  readonly fateOf: (videoId: string) => Fate | undefined;
}

/** How processing ends against the bytes' own verdict: never, or with this failure. */
export type Fate = 'stuck' | Failure;

/** What became of an arrived body: taken, or too late because the video has come to its end or is gone. */
export type AcceptResult = 'accepted' | 'already complete' | 'video deleted';

/**
 * Moves videos from pending through processing to ready or failed. The state lives in the records as due
 * times, so a restart changes nothing: whoever reads calls `advance` first, and one timer calls it in between.
 */
export class Lifecycle {
  readonly #parts: LifecycleParts;
  readonly #accepting = new Map<string, Promise<AcceptResult>>();
  #era = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  /** Finishes every video whose time has come, and sets the timer for the next. On a full disk they go on processing, until there is room. */
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

  /** @returns false when the records cannot be written at present: an error in a timer would end the process */
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

  /** Changes when all records are replaced: what was begun in an earlier era must not touch a video of the same id. */
  get era(): number {
    return this.#era;
  }

  /**
   * The bytes of a video are here: probes them and starts the processing. First come, first served.
   * @param era when they began to arrive
   */
  async accept(videoId: string, file: ArrivedFile, era = this.#era): Promise<AcceptResult> {
    try {
      const verdict = await this.#parts.probe(file.path);
      const refusal = era === this.#era ? this.#refusal(videoId) : 'video deleted';
      return refusal ?? (await this.#accept(videoId, file, verdict));
    } finally {
      await rm(file.path, { force: true }); // it has moved to its place, or nobody wants it
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

  /** Begins a new era with this work, which replaces records and files: no file is on the way to its place while it runs. */
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
      if (!isTaken) await mediaFiles.remove(videoId); // deleted or failed while the file moved, or there is no room for the record
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

  /** The video comes to a bad end. @returns false when it has ended already, or is gone */
  fail(videoId: string, failure: Failure): boolean {
    const { videos, clock, events } = this.#parts;
    return videos.atOnce(() => {
      const isFailed = videos.fail(videoId, failure, clock.nowMs());
      if (isFailed) events.emit('video.failed', videoId);
      return isFailed;
    });
  }

  /** The processing of the video ends now, whatever time it would take. */
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
/** Until the disk is asked again whether there is room. */
const RETRY_MS = 1000;

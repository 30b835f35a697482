import { rm } from 'node:fs/promises';
import type { Library } from './library.ts';
import { probe } from './media/probe.ts';
import type { Probe } from './media/verdict.ts';
import { seededFraction } from './seeded.ts';
import type { VideoStore } from './store/videos.ts';
import type { ArrivedFile } from './uploads/receive.ts';

export interface LifecycleParts {
  readonly videos: VideoStore;
  readonly library: Library;
  readonly nowMs: () => number;
  readonly seed: number;
  readonly processingMs: { readonly min: number; readonly max: number };
}

/** What became of an arrived body: taken, or too late because the video has come to its end or is gone. */
export type AcceptResult = 'accepted' | 'already complete' | 'video deleted';

/**
 * Moves videos from pending through processing to ready or failed. The state lives in the records as due
 * times, so a restart changes nothing: whoever reads calls `advance` first, and one timer calls it in between.
 */
export class Lifecycle {
  readonly #parts: LifecycleParts;
  readonly #accepting = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
  }

  /** Finishes every video whose time has come, and sets the timer for the next. */
  advance(): void {
    const { videos, nowMs } = this.#parts;
    videos.finishDue(nowMs());
    clearTimeout(this.#timer);
    const dueAtMs = videos.nextDueAtMs();
    if (dueAtMs === null) return;
    const delayMs = Math.min(Math.max(dueAtMs - nowMs(), 1), MAX_DELAY_MS);
    this.#timer = setTimeout(() => this.advance(), delayMs).unref();
  }

  /** The bytes of a video are here: probes them and starts the processing. First come, first served. */
  async accept(videoId: string, file: ArrivedFile): Promise<AcceptResult> {
    const verdict = await probe(file.path);
    const refusal = this.#refusal(videoId);
    if (refusal) {
      await rm(file.path, { force: true });
      return refusal;
    }
    this.#accepting.add(videoId);
    try {
      return await this.#keep(videoId, file, verdict);
    } finally {
      this.#accepting.delete(videoId);
    }
  }

  /** File first, record second: a crash in between leaves a pending video and a file that the next start removes. */
  async #keep(videoId: string, file: ArrivedFile, verdict: Probe): Promise<AcceptResult> {
    const { videos, library } = this.#parts;
    await library.keep(file.path, videoId);
    const stored = { videoId, sizeBytes: file.sizeBytes, sha256: file.sha256 };
    if (!videos.startProcessing(stored, verdict, this.#dueAtMs(videoId))) {
      await library.remove(videoId); // deleted, or failed by its import, while the file moved
      return videos.find(videoId) ? 'already complete' : 'video deleted';
    }
    this.advance();
    return 'accepted';
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #refusal(videoId: string): Exclude<AcceptResult, 'accepted'> | undefined {
    const video = this.#parts.videos.find(videoId);
    if (!video) return 'video deleted';
    return video.status === 'pending' && !this.#accepting.has(videoId) ? undefined : 'already complete';
  }

  #dueAtMs(videoId: string): number {
    const { seed, processingMs, nowMs } = this.#parts;
    const { min, max } = processingMs;
    return nowMs() + Math.round(min + seededFraction(seed, ['processing', videoId]) * (max - min));
  }
}

/** A timer longer than 2^31 ms would fire at once; a clock that jumps is noticed within this time. */
const MAX_DELAY_MS = 60_000;

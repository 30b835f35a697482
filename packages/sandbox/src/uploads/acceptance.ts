import { rm } from 'node:fs/promises';
import type { Events } from '../events.ts';
import type { Lifecycle } from '../lifecycle.ts';
import type { MediaFiles } from '../store/media-files.ts';
import type { VideoStore } from '../store/videos.ts';
import type { ArrivedFile } from './receive.ts';
import type { Probe } from '../media/media-report.ts';

interface AcceptanceParts {
  readonly videos: VideoStore;
  readonly mediaFiles: MediaFiles;
  readonly lifecycle: Lifecycle;
  readonly events: Events;
  /** Probes the file at a path. */
  readonly probe: (path: string) => Promise<Probe>;
}

/** Result for a received file: accepted, or too late because the video already has its file or was deleted. */
export type AcceptResult = 'accepted' | 'already complete' | 'video deleted';

/**
 * Accepts received files: probes each, stores it as its video's file, and starts processing. If a video receives
 * several files, the first one wins.
 */
export class Acceptance {
  readonly #parts: AcceptanceParts;
  readonly #accepting = new Map<string, Promise<AcceptResult>>();
  #era = 0;

  /** @param parts the records and files to change, the probe, and the lifecycle that processes accepted files */
  constructor(parts: AcceptanceParts) {
    this.#parts = parts;
  }

  /**
   * The current era, which changes when all records are replaced. Work begun in an earlier era must not touch a video
   * with the same id.
   */
  get era(): number {
    return this.#era;
  }

  /**
   * Accepts a received file, or deletes it.
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

  /**
   * Starts a new era by running `work`, which replaces records and files. No file is being moved into place while
   * `work` runs.
   */
  async startNewEra<T>(work: () => T): Promise<T> {
    while (this.#accepting.size > 0) await Promise.allSettled(this.#accepting.values());
    const result = work();
    this.#era += 1;
    this.#parts.lifecycle.advance();
    return result;
  }

  /**
   * Stores the file first and the record second: a crash in between leaves a pending video, and a file that the next
   * start removes.
   */
  async #keep(videoId: string, file: ArrivedFile, verdict: Probe): Promise<AcceptResult> {
    const { videos, mediaFiles, lifecycle, events } = this.#parts;
    let isTaken = false;
    try {
      await mediaFiles.keep(file.path, videoId);
      isTaken = lifecycle.start({ videoId, sizeBytes: file.sizeBytes, sha256: file.sha256 }, verdict);
    } finally {
      if (!isTaken) await mediaFiles.remove(videoId); // the video was deleted or failed while the file moved, or the record has no room
    }
    if (!isTaken) return videos.find(videoId) ? 'already complete' : 'video deleted';
    events.emit('video.processing', videoId);
    lifecycle.advance();
    return 'accepted';
  }

  #refusal(videoId: string): Exclude<AcceptResult, 'accepted'> | undefined {
    const video = this.#parts.videos.find(videoId);
    if (!video) return 'video deleted';
    return video.status === 'pending' && !this.#accepting.has(videoId) ? undefined : 'already complete';
  }
}

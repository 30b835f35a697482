import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaFiles } from '../store/media-files.ts';
import type { VideoMedia } from '../store/videos.ts';
import { Ffmpeg, asJpeg, stillAttempts } from './ffmpeg.ts';
import { pngOf, type Drawing, artworkDrawing, thumbnailDrawing } from './png.ts';

/** A picture file. */
export interface Picture {
  readonly path: string;
  readonly isPlaceholder: boolean;
}

/**
 * Thumbnails and artwork, made on first request and kept on disk. With ffmpeg, they are JPEG, and a thumbnail shows a
 * frame of the video or the cover of a sound file. Without ffmpeg, they are PNG, and every thumbnail is a drawn
 * placeholder, different for each video.
 */
export class Pictures implements Disposable {
  /** File extension in the addresses of all pictures. */
  readonly extension: 'jpg' | 'png';
  readonly #mediaFiles: MediaFiles;
  readonly #ffmpeg: Ffmpeg | null;
  readonly #making = new Map<string, Promise<boolean>>();
  /** Hashes of files without a still. Ids would not do, because a reset reuses them. */
  readonly #withoutStill = new Set<string>();

  /** @param ffmpeg path of the program; null if there is none */
  constructor(mediaFiles: MediaFiles, ffmpeg: string | null) {
    this.#mediaFiles = mediaFiles;
    this.#ffmpeg = ffmpeg === null ? null : new Ffmpeg(ffmpeg);
    this.extension = ffmpeg === null ? 'png' : 'jpg';
  }

  /**
   * Returns a video's thumbnail or its placeholder. @returns undefined if ffmpeg cannot write even a placeholder, or is
   * being closed
   */
  async thumbnail(videoId: string, media: VideoMedia): Promise<Picture | undefined> {
    const path = this.#mediaFiles.thumbnailPath(videoId, this.extension);
    const hasStill =
      !this.#withoutStill.has(media.sha256) && (await this.#once(path, (to) => this.#still(videoId, media, to)));
    if (hasStill) return { path, isPlaceholder: false };
    this.#withoutStill.add(media.sha256); // not tried again until the next start
    const placeholder = this.#mediaFiles.placeholderPath(videoId, this.extension);
    const isThere = await this.#once(placeholder, (to) => this.#draw(thumbnailDrawing(videoId), to));
    return isThere ? { path: placeholder, isPlaceholder: true } : undefined;
  }

  /** Returns a channel's artwork. @returns undefined as for `thumbnail` */
  async artwork(channelId: string): Promise<Picture | undefined> {
    const path = this.#mediaFiles.artworkPath(channelId, this.extension);
    const isThere = await this.#once(path, (to) => this.#draw(artworkDrawing(channelId), to));
    return isThere ? { path, isPlaceholder: false } : undefined;
  }

  [Symbol.dispose](): void {
    this.#ffmpeg?.[Symbol.dispose]();
  }

  /** Makes the file unless it exists; concurrent callers wait for the same work. */
  async #once(path: string, make: (to: string) => Promise<boolean>): Promise<boolean> {
    if (existsSync(path)) return true;
    const making = this.#making.get(path) ?? this.#make(path, make).finally(() => this.#making.delete(path));
    this.#making.set(path, making);
    return making;
  }

  /** Makes the file elsewhere and then renames it, so that no partial picture is visible. */
  async #make(path: string, make: (to: string) => Promise<boolean>): Promise<boolean> {
    const unfinished = this.#unfinishedPath();
    const { era } = this.#mediaFiles;
    try {
      if (!(await make(unfinished)) || !existsSync(unfinished)) return false;
      if (era === this.#mediaFiles.era) await rename(unfinished, path); // else its video was replaced
      return true;
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  async #still(videoId: string, media: VideoMedia, to: string): Promise<boolean> {
    for (const attempt of stillAttempts(media, this.#mediaFiles.pathOf(videoId), to)) {
      // ffmpeg succeeds without writing anything if no frame follows the start position.
      if ((await this.#ffmpeg?.run(attempt)) === true && existsSync(to)) return true;
    }
    return false;
  }

  async #draw(drawing: Drawing, to: string): Promise<boolean> {
    const png = await pngOf(drawing);
    if (!this.#ffmpeg) return writeFile(to, png).then(() => true);
    const from = this.#unfinishedPath();
    try {
      await writeFile(from, png);
      return await this.#ffmpeg.run(asJpeg(from, to));
    } finally {
      await rm(from, { force: true });
    }
  }

  #unfinishedPath(): string {
    return join(this.#mediaFiles.incoming, `picture-${randomUUID()}`);
  }
}

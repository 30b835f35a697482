import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { MonotonicClock } from './clock.ts';

/**
 * Tells a part of a download from a video. yt-dlp fetches `clip.f137.mp4` and `clip.f140.m4a` one after the other and then merges them, so a
 * part lies complete for minutes. Only a file of the same download that is still written proves it: `race.f1.mp4` is a video.
 * Source: yt-dlp, `YoutubeDL.py` (`prepend_extension` with `f` and the format).
 */
export class DownloadParts {
  readonly #folder: string;
  readonly #clock: MonotonicClock;
  /** The last directory listed: its parts are asked about one after the other. */
  #listed: { readonly directory: string; readonly atMs: number; readonly names: Promise<readonly string[]> } | null =
    null;

  /** @param folder absolute path of the watched folder */
  constructor(folder: string, clock: MonotonicClock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** @returns the file that proves that `path` is a part of a download under way, or null */
  async proofFor(path: string): Promise<string | null> {
    const stem = stemOf(basename(path));
    if (stem === null) return null;
    const names = await this.#list(dirname(join(this.#folder, path)));
    return names.find((name) => name.startsWith(`${stem}.`) && STILL_WRITTEN.test(name)) ?? null;
  }

  /** A directory that cannot be listed proves nothing. */
  #list(directory: string): Promise<readonly string[]> {
    const now = this.#clock.elapsed();
    if (this.#listed?.directory !== directory || now - this.#listed.atMs > LISTING_LASTS_MS)
      this.#listed = { directory, atMs: now, names: readdir(directory).catch(() => []) };
    return this.#listed.names;
  }
}

function stemOf(name: string): string | null {
  return /^(?<stem>.+)\.f[^.]+\.[^.]+$/su.exec(name)?.groups?.['stem'] ?? null;
}

const STILL_WRITTEN = /\.(?:part|ytdl|part-Frag\d+|temp\.[^.]+)$/iu;
const LISTING_LASTS_MS = 1_000;

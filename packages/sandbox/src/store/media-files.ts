import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { inTransaction, writeEra } from './database.ts';

/**
 * The files on disk: `incoming/` holds unfinished files, `media/` the stored ones, named after their videos,
 * `thumbnails/` their pictures, and `artwork/` the channels' pictures. A file in `media/` without a record was never
 * acknowledged.
 *
 * Replacing all records begins a new era, whose files are in a separate folder `era-N`. The records store the current
 * era, so files and records change in the same moment, even if the process is killed.
 */
export class MediaFiles {
  readonly incoming: string;
  readonly #dataDir: string;
  #era: number;

  /**
   * Touches no files until `open`. @param dataDir the existing data folder @param era current era according to the
   * records
   */
  constructor(dataDir: string, era = 0) {
    this.incoming = join(dataDir, 'incoming');
    this.#dataDir = dataDir;
    this.#era = era;
  }

  /** The current era, which changes when all files are replaced. Work begun in an earlier era must not add files. */
  get era(): number {
    return this.#era;
  }

  /**
   * Creates the folders and removes what an earlier process left behind: unfinished files, files without a record, and
   * other eras.
   */
  async open(isKnown: (videoId: string) => boolean): Promise<void> {
    await rm(this.incoming, { recursive: true, force: true });
    await mkdir(this.incoming, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#dataDir)) {
      const era = eraOf(name);
      if (era !== null && era !== this.#era) await removeAll(join(this.#dataDir, name));
    }
    for (const folder of STORED) await mkdir(this.#folder(folder), { recursive: true, mode: 0o700 });
    for (const folder of [this.#folder('media'), this.#folder('thumbnails')]) {
      const unknown = (await readdir(folder)).filter((name) => !isKnown(parse(name).name));
      await Promise.all(unknown.map((name) => removeAll(join(folder, name))));
    }
  }

  pathOf(videoId: string): string {
    return join(this.#folder('media'), safeName(videoId));
  }

  thumbnailPath(videoId: string, extension: PictureExtension): string {
    return join(this.#folder('thumbnails'), `${safeName(videoId)}.${extension}`);
  }

  /**
   * Returns the path of the picture that stands in for a missing thumbnail. The next start removes this picture,
   * because another ffmpeg may be able to produce the thumbnail.
   */
  placeholderPath(videoId: string, extension: PictureExtension): string {
    return join(this.#folder('thumbnails'), `${safeName(videoId)}.drawn.${extension}`);
  }

  artworkPath(channelId: string, extension: PictureExtension): string {
    return join(this.#folder('artwork'), `${safeName(channelId)}.${extension}`);
  }

  /** Moves a received file into place. Once this resolves, the rename is on disk. */
  async keep(arrivedPath: string, videoId: string): Promise<void> {
    await rename(arrivedPath, this.pathOf(videoId));
    await using folder = await open(this.#folder('media'), 'r');
    await folder.sync();
  }

  /**
   * Prepares the next era alongside the current one.
   * @param paths the new era's files by video id. Files that are already stored also stay in the current era; all
   *   others are moved.
   */
  prepare(paths: ReadonlyMap<string, string>): NextEra {
    const number = this.#era + 1;
    const discard = (): void => rmSync(this.#rootOf(number), { recursive: true, force: true });
    discard();
    try {
      for (const folder of STORED) mkdirSync(this.#folder(folder, number), { recursive: true, mode: 0o700 });
      const media = this.#folder('media', number);
      for (const [videoId, path] of paths)
        if (path === this.pathOf(videoId)) linkOrCopy(path, join(media, safeName(videoId)));
        else renameSync(path, join(media, safeName(videoId)));
    } catch (error) {
      discard();
      throw error;
    }
    return { number, discard, begin: () => this.#begin(number) };
  }

  /** Removes all files of a video, including pictures in a format that only an earlier process used. */
  async remove(videoId: string): Promise<void> {
    const pictures = PICTURE_EXTENSIONS.flatMap((extension) => [
      this.thumbnailPath(videoId, extension),
      this.placeholderPath(videoId, extension),
    ]);
    await Promise.all([this.pathOf(videoId), ...pictures].map((path) => rm(path, { force: true })));
  }

  async #begin(number: number): Promise<void> {
    const old = this.#era;
    this.#era = number;
    // Era 0 keeps its folders directly in the data folder, next to the records.
    const over = old === 0 ? STORED.map((folder) => this.#folder(folder, old)) : [this.#rootOf(old)];
    for (const folder of over) await removeAll(folder);
  }

  #folder(name: (typeof STORED)[number], era = this.#era): string {
    return join(this.#rootOf(era), name);
  }

  #rootOf(era: number): string {
    return era === 0 ? this.#dataDir : join(this.#dataDir, `era-${era}`);
  }
}

/**
 * Replaces the records and all files in one moment, even if the process is killed.
 * @param paths of the new files by video id; see `MediaFiles.prepare` @param work erases the records and writes the new
 *   ones; if it throws, everything stays unchanged
 * @returns a promise that resolves when the old files are deleted
 */
export function replaceEverything(
  {
    records: { database },
    mediaFiles,
  }: { readonly records: { readonly database: DatabaseSync }; readonly mediaFiles: MediaFiles },
  paths: ReadonlyMap<string, string>,
  work: () => void,
): { readonly space: Promise<void> } {
  const next = mediaFiles.prepare(paths);
  try {
    inTransaction(database, () => {
      work();
      writeEra(database, next.number);
    });
  } catch (error) {
    next.discard();
    throw error;
  }
  return { space: next.begin() };
}

/** The prepared files of an era that is not current yet. */
export interface NextEra {
  /** The era's number, to be stored in the records. */
  readonly number: number;
  /**
   * Makes the era current, after the records have stored it. @returns when the old files are deleted; after a crash the
   * next start deletes them
   */
  begin(): Promise<void>;
  /** Deletes the prepared files, if the records did not store the era. */
  discard(): void;
}

/** Returns whether a folder of this name in a data folder belongs to the sandbox. */
export function isMediaFolder(name: string): boolean {
  return name === 'incoming' || eraOf(name) !== null;
}

const STORED = ['media', 'thumbnails', 'artwork'] as const;

/** Reads the era from a folder name. @returns null if the folder does not hold stored files */
function eraOf(name: string): number | null {
  if (STORED.some((folder) => folder === name)) return 0;
  const [, number] = /^era-(\d{1,9})$/.exec(name) ?? [];
  return number === undefined ? null : Number(number);
}

async function removeAll(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** Creates a hard link, or a copy where the file system has no hard links. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

const PICTURE_EXTENSIONS = ['jpg', 'png'] as const;
type PictureExtension = (typeof PICTURE_EXTENSIONS)[number];

/**
 * Lets only ids issued by the service become file names, wherever the id was read. @throws TypeError for any other id
 */
function safeName(id: string): string {
  if (!/^[\w-]{1,100}$/.test(id)) throw new TypeError(`not an id of the service: ${JSON.stringify(id.slice(0, 100))}`);
  return id;
}

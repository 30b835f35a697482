import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, join, parse } from 'node:path';

/**
 * The files on disk: `incoming/` holds unfinished files, `media/` the stored ones, named by their video,
 * `thumbnails/` the pictures made of them and `artwork/` those of channels. A file in `media/` that the records do not know was
 * never acknowledged.
 */
export class MediaFiles {
  readonly incoming: string;
  readonly #media: string;
  readonly #thumbnails: string;
  readonly #artwork: string;
  #era = 0;

  /** Touches nothing until `open`. @param dataDir the data folder, which exists */
  constructor(dataDir: string) {
    const [incoming, media, thumbnails, artwork] = MEDIA_FOLDERS;
    this.incoming = join(dataDir, incoming);
    this.#media = join(dataDir, media);
    this.#thumbnails = join(dataDir, thumbnails);
    this.#artwork = join(dataDir, artwork);
  }

  /** Changes when all files are replaced. Work begun in an earlier era must not add files. */
  get era(): number {
    return this.#era;
  }

  /** Creates the folders, and removes files without a record that an earlier process left. */
  async open(isKnown: (videoId: string) => boolean): Promise<void> {
    await rm(this.incoming, { recursive: true, force: true });
    for (const folder of [this.incoming, this.#media, this.#thumbnails, this.#artwork])
      await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const folder of [this.#media, this.#thumbnails]) {
      const unknown = (await readdir(folder)).filter((name) => !isKnown(parse(name).name));
      await Promise.all(unknown.map((name) => rm(join(folder, name), { recursive: true, force: true })));
    }
  }

  pathOf(videoId: string): string {
    return join(this.#media, safeName(videoId));
  }

  thumbnailPath(videoId: string, extension: PictureExtension): string {
    return join(this.#thumbnails, `${safeName(videoId)}.${extension}`);
  }

  /** Of the picture that is drawn for want of a thumbnail. The next start removes it: with another ffmpeg there may be one. */
  placeholderPath(videoId: string, extension: PictureExtension): string {
    return join(this.#thumbnails, `${safeName(videoId)}.drawn.${extension}`);
  }

  artworkPath(channelId: string, extension: PictureExtension): string {
    return join(this.#artwork, `${safeName(channelId)}.${extension}`);
  }

  /** Moves an arrived file into place, durably: the rename is on disk when this resolves. */
  async keep(arrivedPath: string, videoId: string): Promise<void> {
    await rename(arrivedPath, this.pathOf(videoId));
    await using folder = await open(this.#media, 'r');
    await folder.sync();
  }

  /**
   * Replaces all files of all videos with these at once. Paths are by video id and may be files that are already stored.
   * @returns when the old files are deleted; after a crash the next start deletes them
   */
  replace(paths: ReadonlyMap<string, string>): Promise<void> {
    this.#era += 1;
    const aside = join(this.incoming, randomUUID());
    mkdirSync(aside, { mode: 0o700 });
    for (const folder of [this.#media, this.#thumbnails, this.#artwork]) {
      renameSync(folder, join(aside, basename(folder)));
      mkdirSync(folder, { mode: 0o700 });
    }
    for (const [videoId, path] of paths) {
      const isOwn = path === this.pathOf(videoId);
      renameSync(isOwn ? join(aside, basename(this.#media), videoId) : path, this.pathOf(videoId));
    }
    return rm(aside, { recursive: true, force: true });
  }

  /** All files of a video, including pictures in a format that only an earlier process used. */
  async remove(videoId: string): Promise<void> {
    const pictures = PICTURE_EXTENSIONS.flatMap((extension) => [
      this.thumbnailPath(videoId, extension),
      this.placeholderPath(videoId, extension),
    ]);
    await Promise.all([this.pathOf(videoId), ...pictures].map((path) => rm(path, { force: true })));
  }
}

/** Folders whose contents belong to the sandbox. */
export const MEDIA_FOLDERS = ['incoming', 'media', 'thumbnails', 'artwork'] as const;

const PICTURE_EXTENSIONS = ['jpg', 'png'] as const;
type PictureExtension = (typeof PICTURE_EXTENSIONS)[number];

/** Only the service's own ids become file names, wherever the id was read. @throws TypeError for any other */
function safeName(id: string): string {
  if (!/^[\w-]{1,100}$/.test(id)) throw new TypeError(`not an id of the service: ${JSON.stringify(id.slice(0, 100))}`);
  return id;
}

import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * The files on disk: `incoming/` holds bodies that are still arriving, `media/` the stored files, named by
 * their video. A file in `media/` that the records do not know was never acknowledged.
 */
export class Library {
  readonly incoming: string;
  readonly #media: string;

  constructor(dataDir: string) {
    this.incoming = join(dataDir, 'incoming');
    this.#media = join(dataDir, 'media');
  }

  /** Makes the folders, and removes what an earlier process left without a record. */
  async open(isKnown: (videoId: string) => boolean): Promise<void> {
    await rm(this.incoming, { recursive: true, force: true });
    await mkdir(this.incoming, { recursive: true, mode: 0o700 });
    await mkdir(this.#media, { recursive: true, mode: 0o700 });
    const names = await readdir(this.#media);
    await Promise.all(names.filter((name) => !isKnown(name)).map((name) => this.remove(name)));
  }

  pathOf(videoId: string): string {
    return join(this.#media, basename(videoId));
  }

  /** Gives an arrived file its place, durably: the rename is on disk when this resolves. */
  async keep(arrivedPath: string, videoId: string): Promise<void> {
    await rename(arrivedPath, this.pathOf(videoId));
    await using folder = await open(this.#media, 'r');
    await folder.sync();
  }

  async remove(videoId: string): Promise<void> {
    await rm(this.pathOf(videoId), { force: true });
  }
}

import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { snapshotSchema } from '../admin/snapshot-document.ts';
import { importSnapshot, snapshotText, type SnapshotParts } from '../admin/snapshot.ts';
import { ApiError } from '../http/api-error.ts';
import { checkedJson } from '../http/input.ts';
import { isoTime } from '../http/wire.ts';

export interface NamedSnapshot {
  readonly name: string;
  /** ISO 8601, real time rather than the sandbox clock. */
  readonly saved_at: string;
  readonly bytes: number;
}

/** Named states of the sandbox, kept in its data folder for as long as the folder exists. */
export class NamedSnapshots {
  readonly #folder: string;
  readonly #parts: SnapshotParts;

  constructor(dataDir: string, parts: SnapshotParts) {
    this.#folder = join(dataDir, 'snapshots');
    this.#parts = parts;
  }

  /**
   * Saves records and files under the name, replacing an earlier snapshot of that name. @throws ApiError 409 for more
   * than 64 MiB of files
   */
  async save(name: string): Promise<NamedSnapshot> {
    const path = this.#pathOf(name);
    const text = await snapshotText(this.#parts, true);
    // The temporary file has a unique name, because other calls may save the same snapshot at the same time. After a
    // crash, the next start removes the file.
    const unfinished = join(this.#parts.mediaFiles.incoming, randomUUID());
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await writeFile(unfinished, text, { mode: 0o600, flush: true });
      await rename(unfinished, path);
    } finally {
      await rm(unfinished, { force: true });
    }
    return await this.#describe(name);
  }

  /** Replaces all records and files with the snapshot's. @throws ApiError 404 */
  async restore(name: string) {
    const path = this.#pathOf(name);
    await this.#require(path);
    const document = checkedJson(await readFile(path), snapshotSchema(this.#parts.records.database));
    return await importSnapshot(this.#parts, document);
  }

  async list(): Promise<NamedSnapshot[]> {
    const files = await readdir(this.#folder).catch(() => []);
    const names = files.filter((file) => file.endsWith('.json')).map((file) => file.slice(0, -'.json'.length));
    const own = names.filter((name) => NAME.test(name));
    return await Promise.all(own.toSorted().map((name) => this.#describe(name)));
  }

  /** Deletes a snapshot. @throws ApiError 404 */
  async remove(name: string): Promise<void> {
    const path = this.#pathOf(name);
    await this.#require(path);
    await rm(path);
  }

  async #describe(name: string): Promise<NamedSnapshot> {
    const { mtimeMs, size } = await stat(this.#pathOf(name));
    return { name, saved_at: isoTime(mtimeMs), bytes: size };
  }

  async #require(path: string): Promise<void> {
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    if (!isThere)
      throw new ApiError(
        'not_found',
        'There is no snapshot with this name. GET /_sandbox/snapshots lists the snapshots.',
      );
  }

  /** Returns the snapshot's path. @throws ApiError 422 for a name that is not a valid file name on every system */
  #pathOf(name: string): string {
    if (NAME.test(name)) return join(this.#folder, `${name}.json`);
    throw new ApiError('invalid_request', 'The name of a snapshot has letters, digits, ., _ and -, at most 100.');
  }
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

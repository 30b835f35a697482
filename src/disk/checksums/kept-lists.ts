import { join } from 'node:path';
import type { Checksum } from '../../pipeline/file/checksums.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';
import { DigestIndex } from '../../routing/digest-index.ts';
import type { ListReader, UnusableListError } from '../../routing/list-bounds.ts';
import { readList } from './read-list.ts';
import { UnreadableChecksumError, usable } from './unreadable-checksum.ts';

interface Kept {
  readonly version: FileVersion;
  readonly sha256: string;
  readonly digests: DigestIndex;
  readonly unusable: UnusableListError | null;
}

/** Creates a reader for one list, which adds its entries to the index. */
export type OpenList = (path: string, index: DigestIndex) => ListReader;

/**
 * Caches checksum lists. Each list is read once for all of its files, and again only if it changed: a list may have
 * 50,000 lines, and each of 50,000 files needs it.
 */
export class KeptLists {
  readonly #open: OpenList;
  /** Lists by path, most recently used last. */
  readonly #kept = new Map<string, Kept>();
  readonly #reading = new Map<string, Promise<Kept | null>>();
  #entries = 0;

  constructor(open: OpenList) {
    this.#open = open;
  }

  /**
   * Returns the checksums that a list contains for a file. A missing list has none.
   *
   * @param name as in the index
   * @throws {UnreadableChecksumError}
   */
  async checksumsFor(
    name: string,
    { folder, path }: { readonly folder: string; readonly path: string },
  ): Promise<Checksum[]> {
    const list = await this.#listAt(folder, path);
    if (list === null) return [];
    if (list.unusable !== null) throw new UnreadableChecksumError(path, list.unusable);
    const from = { path, sha256: list.sha256 };
    const digests = usable(path, () => list.digests.of(name));
    // Lists cover many files, so they stay when one is put away.
    return digests.map((digest) => ({ ...digest, from, goesWithIt: false }));
  }

  #listAt(folder: string, path: string): Promise<Kept | null> {
    const key = join(folder, path);
    const reading = this.#reading.get(key) ?? this.#read(folder, path).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(folder: string, path: string): Promise<Kept | null> {
    const key = join(folder, path);
    const kept = this.#kept.get(key);
    this.#forget(key);
    const digests = new DigestIndex();
    const read = await readList({ folder, path, unless: kept?.version }, this.#open(path, digests));
    if (read === null) return null;
    if (read === 'as before') return kept === undefined ? null : this.#keep(key, kept);
    const { version, sha256, unusable } = read;
    return this.#keep(key, { version, unusable, sha256: sha256 ?? '', digests: unusable === null ? digests : NONE });
  }

  #keep(key: string, kept: Kept): Kept {
    this.#kept.set(key, kept);
    this.#entries += sizeOf(kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#entries <= MOST_ENTRIES || oldest === key) break;
      this.#forget(oldest);
    }
    return kept;
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key);
    if (kept !== undefined) this.#entries -= sizeOf(kept);
    this.#kept.delete(key);
  }
}

/** Limit for all lists together, about 30 MB. */
const MOST_ENTRIES = 200_000;

const NONE = new DigestIndex();

/** Counts entries, plus an allowance because small lists use memory too. */
function sizeOf({ digests }: Kept): number {
  return digests.size + 10;
}

import { posix, join } from 'node:path';
import { FileUnreadableError } from '@dropcast/client';
import { isRefusal, whyClosed } from '../../read-permission.ts';
import { errnoOf } from '../../errno.ts';
import type { Checksum } from '../../pipeline/file/checksums.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Answer } from '../../pipeline/file/ports.ts';
import {
  UnusableListError,
  baseOf,
  checksumFileKind,
  isChecksumOf,
  isWithoutDirectory,
} from '../../routing/checksum-file.ts';
import type { ListReader } from '../../routing/checksum-file.ts';
import { ChecksumLines } from '../../routing/checksum-lines.ts';
import { MediaHashList } from '../../routing/media-hash-list.ts';
import { DigestIndex, OwnChecksums } from '../../routing/digest-index.ts';
import { ListedNames } from '../listed-names.ts';
import { readList, UnreadableChecksumError, checksumFailure, usable } from './read-list.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';

type FileLocation = Pick<Facts, 'folder' | 'path'>;

/**
 * Reads the checksums that senders supply: from `clip.mp4.sha256`, `clip.md5` and `SHA256SUMS` next to a file, and from
 * Media Hash Lists next to it or in a directory above it, up to the watched folder.
 */
export class ChecksumReader {
  readonly #names = new ListedNames(keyOf);
  readonly #sums = new KeptLists(sums);
  readonly #mediaHashLists = new KeptLists(mediaHashes);

  /** Returns a file's checksums, or a failure if there may be others that cannot be read. */
  async checksumsOf(file: FileLocation): Promise<Answer<readonly Checksum[]>> {
    try {
      return { ok: true, value: [...(await this.#beside(file)), ...(await this.#above(file))] };
    } catch (error) {
      if (error instanceof UnreadableChecksumError) return { ok: false, failure: checksumFailure(error) };
      throw error;
    }
  }

  async #beside({ folder, path }: FileLocation): Promise<readonly Checksum[]> {
    const { dir, base } = posix.parse(path);
    const found: Checksum[] = [];
    for (const name of await this.#namesIn(folder, dir, [
      LISTS,
      base.normalize(),
      posix.parse(base).name.normalize(),
    ])) {
      const at = posix.join(dir, name);
      if (checksumFileKind(name) === 'many')
        found.push(...(await this.#sums.checksumsFor(baseOf(base), { folder, path: at })));
      else if (isChecksumOf(name, base)) found.push(...(await ownChecksums(folder, at, base)));
    }
    return found;
  }

  async #above({ folder, path }: FileLocation): Promise<readonly Checksum[]> {
    const found: Checksum[] = [];
    for (const root of directoriesAbove(path)) {
      const own = path.slice(root === '' ? 0 : root.length + 1).normalize();
      for (const list of await this.#listsIn(folder, root))
        found.push(...(await this.#mediaHashLists.checksumsFor(own, { folder, path: list })));
    }
    return found;
  }

  async #namesIn(folder: string, directory: string, keys: readonly string[]): Promise<readonly string[]> {
    try {
      return await this.#names.of(folder, directory, keys);
    } catch (error) {
      const code = errnoOf(error);
      if (!isRefusal(code)) throw new UnreadableChecksumError(directory, error);
      const why = await whyClosed(posix.join(folder, directory), 'directory', code);
      throw new UnreadableChecksumError(directory, new FileUnreadableError(why, { code, cause: error }));
    }
  }

  /** Returns the Media Hash Lists that cover a directory. */
  async #listsIn(folder: string, root: string): Promise<readonly string[]> {
    const names = await this.#namesIn(folder, root, [LISTS]);
    const history = names.includes(HISTORY) ? await this.#namesIn(folder, posix.join(root, HISTORY), [LISTS]) : [];
    const isList = (name: string): boolean => checksumFileKind(name) === 'mhl';
    const lists = [
      ...names.filter(isList).map((name) => posix.join(root, name)),
      ...history.filter(isList).map((name) => posix.join(root, HISTORY, name)),
    ];
    if (lists.length > MOST_LISTS)
      throw new UnreadableChecksumError(
        `${lists[0] ?? ''} and ${lists.length - 1} others`,
        new UnusableListError(`there are more than ${MOST_LISTS} Media Hash Lists in one directory`),
      );
    return lists;
  }
}

/** Directory in which ASC MHL 2 keeps its lists. */
const HISTORY = 'ascmhl';

/** Key for the names of lists. No file can have this name. */
const LISTS = '/';

function keyOf(name: string): string | null {
  const kind = checksumFileKind(name);
  if (kind === 'one') return posix.parse(name).name.normalize();
  return kind !== null || name === HISTORY ? LISTS : null;
}

/** Limit per directory. A history has one list for each check of the files. */
const MOST_LISTS = 64;

/** Opens a list that covers the files in its own directory. */
const sums: OpenList = (path, index) =>
  new ChecksumLines(path, (line) => {
    if (line.name !== null) index.add(baseOf(line.name), line, isWithoutDirectory(line.name));
  });

const mediaHashes: OpenList = (_, index) => new MediaHashList((hash) => index.add(hash.name.normalize(), hash));

/** Reads the checksums in a file that covers only one video. */
async function ownChecksums(folder: string, path: string, base: string): Promise<readonly Checksum[]> {
  const own = new OwnChecksums(base, posix.basename(path));
  const read = await readList({ folder, path }, new ChecksumLines(path, (line) => own.add(line)));
  if (read === null || read === 'as before') return [];
  if (read.unusable !== null) throw new UnreadableChecksumError(path, read.unusable);
  const from = { path, sha256: read.sha256 ?? '' };
  return usable(path, () => own.found()).map((digest) => ({ ...digest, from, goesWithIt: true }));
}

/** Returns a file's directory and those above it, up to the folder itself: ''. */
function directoriesAbove(path: string): readonly string[] {
  const { dir } = posix.parse(path);
  return dir === '' ? [''] : [dir, ...directoriesAbove(dir)];
}

interface Kept {
  readonly version: FileVersion;
  readonly sha256: string;
  readonly digests: DigestIndex;
  readonly unusable: UnusableListError | null;
}

/** Creates a reader for one list, which adds its entries to the index. */
type OpenList = (path: string, index: DigestIndex) => ListReader;

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

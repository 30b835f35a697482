import { posix } from 'node:path';
import { FileUnreadableError } from '@dropcast/client';
import { isRefusal, whyClosed } from '../../read-permission.ts';
import { errnoOf } from '../../errno.ts';
import type { Checksum } from '../../pipeline/file/checksums.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { Answer } from '../../pipeline/file/ports.ts';
import { baseOf, checksumFileKind, isChecksumOf, isWithoutDirectory } from '../../routing/checksum-file.ts';
import { ChecksumLines } from '../../routing/checksum-lines.ts';
import { MediaHashList } from '../../routing/media-hash-list.ts';
import { OwnChecksums } from '../../routing/own-checksums.ts';
import { ListedNames } from '../listed-names.ts';
import { KeptLists } from './kept-lists.ts';
import type { OpenList } from './kept-lists.ts';
import { readList } from './read-list.ts';
import { UnusableListError } from '../../routing/list-bounds.ts';
import { UnreadableChecksumError, checksumFailure, usable } from './unreadable-checksum.ts';

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

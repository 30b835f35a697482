import { createHash } from 'node:crypto';
import { join, posix } from 'node:path';
import type { Checksum } from '../../pipeline/file/checksums.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { isUntouched, versionOf } from '../../pipeline/file/file-version.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';
import { checksumFileKind, checksumsFor, isChecksumOf } from '../../routing/checksum-file.ts';
import { parseMediaHashList } from '../../routing/media-hash-list.ts';
import { openRegular } from '../accepted-file.ts';
import { inDirectory } from '../held-directory.ts';
import { ChecksumNames, HISTORY } from './directory-names.ts';

type Place = Pick<Facts, 'folder' | 'path'>;

/**
 * What senders say the digests of files are: in `clip.mp4.sha256`, `clip.md5`, `SHA256SUMS` beside a file, and in Media Hash Lists beside it or
 * in a directory above it, up to the watched folder. What cannot be read says nothing.
 */
export class ChecksumReader {
  readonly #names = new ChecksumNames();
  /** Lists of thousands of files, by what they were when they were read. */
  readonly #lists = new Map<string, { readonly version: FileVersion; readonly lines: readonly Line[] }>();

  async checksumsOf(file: Place): Promise<readonly Checksum[]> {
    return [...(await this.#beside(file)), ...(await this.#above(file))];
  }

  async #beside({ folder, path }: Place): Promise<readonly Checksum[]> {
    const { dir, base } = posix.parse(path);
    const names = (await this.#names.of(join(folder, dir))).filter(
      (name) => checksumFileKind(name) === 'many' || isChecksumOf(name, base),
    );
    const found: Checksum[] = [];
    for (const name of names) {
      const read = await readText(folder, posix.join(dir, name));
      if (typeof read === 'string') continue;
      const from = { path: posix.join(dir, name), sha256: read.sha256 };
      const goesWithIt = checksumFileKind(name) === 'one';
      for (const line of checksumsFor(base, name, read.text)) found.push({ ...line, from, goesWithIt });
    }
    return found;
  }

  async #above({ folder, path }: Place): Promise<readonly Checksum[]> {
    const found: Checksum[] = [];
    for (const root of directoriesAbove(path)) {
      const own = path.slice(root === '' ? 0 : root.length + 1).normalize();
      for (const list of await this.#listsIn(folder, root))
        for (const line of await this.#linesOf(folder, list))
          if (line.path.normalize() === own) found.push({ ...line, goesWithIt: false });
    }
    return found;
  }

  /** The lists about what is in a directory. */
  async #listsIn(folder: string, root: string): Promise<readonly string[]> {
    const names = await this.#names.of(join(folder, root));
    const history = names.includes(HISTORY) ? await this.#names.of(join(folder, root, HISTORY)) : [];
    const isList = (name: string): boolean => checksumFileKind(name) === 'mhl';
    return [
      ...names.filter(isList).map((name) => posix.join(root, name)),
      ...history.filter(isList).map((name) => posix.join(root, HISTORY, name)),
    ].slice(0, MOST_LISTS);
  }

  async #linesOf(folder: string, path: string): Promise<readonly Line[]> {
    const key = join(folder, path);
    const kept = this.#lists.get(key);
    const read = await readText(folder, path, kept?.version);
    if (typeof read === 'string') return read === 'as before' ? (kept?.lines ?? []) : [];
    const from = { path, sha256: read.sha256 };
    const lines = parseMediaHashList(read.text).map((line) => ({ ...line, from }));
    this.#lists.set(key, { version: read.version, lines });
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MOST_KEPT && oldest !== undefined) this.#lists.delete(oldest);
    return lines;
  }
}

interface Line extends Omit<Checksum, 'goesWithIt'> {
  readonly path: string;
}

/** Per directory. A history has one for each time somebody looked at the files. */
const MOST_LISTS = 64;
const MOST_KEPT = 16;
/** A list of 50,000 files. */
const MOST_BYTES = 16 * 1024 * 1024;

/** The directory of a file, and those above it, up to the folder itself: ''. */
function directoriesAbove(path: string): readonly string[] {
  const { dir } = posix.parse(path);
  return dir === '' ? [''] : [dir, ...directoriesAbove(dir)];
}

interface Text {
  readonly text: string;
  /** Of what was read, hex. */
  readonly sha256: string;
  readonly version: FileVersion;
}

/** @param unless the version of which nothing is to be read again */
async function readText(
  folder: string,
  path: string,
  unless?: FileVersion,
): Promise<Text | 'as before' | 'unreadable'> {
  try {
    return await inDirectory({ folder, directory: posix.dirname(path) }, async (held) => {
      await using file = await openRegular(held.at(posix.basename(path)));
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile() || stats.size > MOST_BYTES) return 'unreadable';
      const version = versionOf(stats);
      if (unless !== undefined && isUntouched(unless, version)) return 'as before';
      const bytes = await file.readFile();
      return { text: decoded(bytes), sha256: createHash('sha256').update(bytes).digest('hex'), version };
    });
  } catch {
    return 'unreadable';
  }
}

/** PowerShell writes UTF-16 where nobody asks it not to. */
function decoded(bytes: Buffer): string {
  return new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes);
}

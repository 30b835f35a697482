import { lstat, mkdir, rename, rmdir, readdir } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { errnoOf } from '../../errno.ts';
import { inDirectory, unlessThere } from '../held-directory.ts';
import type { HeldDirectory } from '../held-directory.ts';
import { moveFile } from './move-file.ts';

/** A file to take out of its directory. */
interface TakenFile {
  readonly name: string;
  readonly id: string;
  /** Inspects the file before it is taken. If this throws, the file stays where it is. */
  readonly inspect: () => Promise<void>;
}

/**
 * Thrown when a file could not get its name back because another file now has it. Both files are kept. `cause` is the
 * error after which the file was to be given back.
 */
export class RenamedError extends Error {
  override readonly name = 'RenamedError';
  readonly newName: string;

  constructor(newName: string, cause: unknown) {
    super(`it is now ${JSON.stringify(newName)}, because another file has its name`, { cause });
    this.newName = newName;
  }
}

/** Thrown when a directory disappeared during the work. */
export class DirectoryGoneError extends Error {
  override readonly name = 'DirectoryGoneError';
}

/**
 * Moves a file out of everyone's reach and works on it there. A rename moves the file into a hidden directory next to
 * it, so that a later file of the same name cannot be mistaken for it. If the work throws, the file gets its own name
 * or a free one back.
 *
 * A crash leaves `.dropcast-ID/NAME` behind; the next call continues with that file.
 *
 * @param work receives the directory, and whether a crash had left the file there
 * @returns the result of the work; null if there is no such file
 * @throws {RenamedError} the work failed, and the file has another name now
 */
export async function inPrivateDirectory<T>(
  from: HeldDirectory,
  { name, id, inspect }: TakenFile,
  work: (own: HeldDirectory, isResumed: boolean) => Promise<T>,
): Promise<T | null> {
  const own = privateDirectoryOf(id);
  if (!(await isThere(join(from.at(own), name))) && (await isThere(from.at(name)))) await inspect();
  await mkdir(from.at(own), 0o700).catch(unlessThere);
  try {
    return await inDirectory({ folder: from.at('.'), directory: own }, async (held) => {
      const isResumed = await isThere(held.at(name));
      if (!isResumed && !(await take(from.at(name), held.at(name)))) return null;
      try {
        return await work(held, isResumed);
      } catch (error) {
        throw await giveBack(held.at(name), from, { name, id }, error).then(notMissing, notMissing);
      }
    });
  } finally {
    // Fails if not empty: a file that could not be given back waits for the next try.
    await rmdir(from.at(own)).catch(() => undefined);
  }
}

/** Returns the name of a row's private directory. Hidden, so watchers ignore it. */
function privateDirectoryOf(id: string): string {
  return `.dropcast-${id}`;
}

/** Moves a file into a directory, under its own name or a free one. @returns that name */
function freeMove(path: string, to: HeldDirectory, file: Pick<TakenFile, 'name' | 'id'>): Promise<string> {
  return moveFile({ ...file, path, source: path, confirm: async () => undefined, hasCopyAt: async () => false }, to);
}

async function take(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Gives a file its name back. @returns the error to throw; a `RenamedError` if the name was taken */
async function giveBack(
  path: string,
  to: HeldDirectory,
  file: Pick<TakenFile, 'name' | 'id'>,
  error: unknown,
): Promise<unknown> {
  if (!(await isThere(path))) return error;
  const newName = await freeMove(path, to, file);
  return newName === file.name ? error : new RenamedError(newName, error);
}

/**
 * Replaces `ENOENT`, which would suggest that the file is gone. We have the file; a directory on its path disappeared.
 */
function notMissing(error: unknown): unknown {
  return errnoOf(error) === 'ENOENT'
    ? new DirectoryGoneError('a directory disappeared in the meantime', { cause: error })
    : error;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}

const ours = new RegExp(`^${privateDirectoryOf('(f_[0-9a-f]{12})').replace('.', '\\.')}$`);

/** Returns the id of the row that a private directory was created for; null for any other directory. */
export function rowOfPrivateDirectory(directory: string): string | null {
  return ours.exec(posix.basename(directory))?.[1] ?? null;
}

/**
 * Moves the files in a private directory back under their own names, or under free ones if those are taken, and removes
 * the directory. Leaves other entries alone.
 *
 * @param directory as accepted by `rowOfPrivateDirectory`, relative to the folder
 * @returns the new paths of the files, relative to the folder
 * @throws the system error
 */
export async function giveBackAll(folder: string, directory: string): Promise<readonly string[]> {
  const [parent, own] = [posix.dirname(directory), posix.basename(directory)];
  return inDirectory({ folder, directory: parent }, async (from) => {
    const given = await inDirectory({ folder: from.at('.'), directory: own }, async (held) => {
      const names: string[] = [];
      for (const entry of await readdir(held.at('.'), { withFileTypes: true }))
        if (entry.isFile()) names.push(await freeMove(held.at(entry.name), from, { name: entry.name, id: own }));
      return names;
    });
    await rmdir(from.at(own)).catch(() => undefined);
    return given.map((name) => posix.join(parent, name));
  });
}

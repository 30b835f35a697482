import { closeSync, lstatSync, openSync, renameSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { constants, copyFile, link, lstat, rm, unlink } from 'node:fs/promises';
import { dirname, posix } from 'node:path';
import { spellings } from '../../routing/text.ts';
import { errnoOf, succeeds } from '../../errno.ts';
import type { HeldDirectory } from '../held-directory.ts';
import { syncPath } from '../file-system.ts';

/** A file to move, out of everybody else's reach. */
export interface MovableFile {
  /** Path for system calls. */
  readonly path: string;
  /** Path through an open descriptor if possible, so that the file cannot be replaced by a link. */
  readonly source: string;
  /** Original name, which the file keeps unless it is taken. */
  readonly name: string;
  /** Id used in the hidden name of an unfinished copy. */
  readonly id: string;
  /** @throws if the file has changed since it was checked */
  confirm(): Promise<void>;
  /** Whether the file at this path is a copy left by a crash. */
  hasCopyAt(path: string): Promise<boolean>;
}

/** Thrown when every name that a file could get is taken. */
export class NoFreeNameError extends Error {
  override readonly name = 'NoFreeNameError';
}

/**
 * Moves a file without ever overwriting another. Links the new name, which fails if it exists, and then removes the old
 * one. Called again after a crash, it finishes the move.
 *
 * @returns the file's name in the target directory
 * @throws {NoFreeNameError} @throws the system error
 */
export async function moveFile(file: MovableFile, to: HeldDirectory): Promise<string> {
  await removePartial(file.id, to);
  for (const most of nameLimits) {
    try {
      for (const name of freeNames(file.name, most))
        if (!(await isTakenInOtherForm(name, to)) && (await place(file, to.at(name)))) return name;
      break;
    } catch (error) {
      if (errnoOf(error) !== 'ENAMETOOLONG' || most === nameLimits.at(-1)) throw error;
    }
  }
  throw new NoFreeNameError(
    `the directory already has ${mostNames} files named like ${JSON.stringify(file.name)}: remove some, or rename the file`,
  );
}

/** Removes a copy that a crash left unfinished, or next to the finished one. */
export async function removePartial(id: string, from: HeldDirectory): Promise<void> {
  await rm(from.at(partialName(id)), { force: true });
}

const partialName = (id: string): string => `.dropcast-${id}.part`;

const mostNames = 10_000;

/** Maximum length of a name in bytes: on most file systems, and on eCryptfs, which encrypted home directories use. */
export const nameLimits: readonly number[] = [255, 143];

/**
 * Yields `clip.mp4`, `clip (2).mp4`, … The stem is shortened if a name would exceed the limit.
 *
 * @param most maximum length of a name in bytes
 */
export function* freeNames(base: string, most: number): Generator<string> {
  const { name, ext } = posix.parse(base);
  const [stem, ending] = Buffer.byteLength(ext) > longestEnding ? [base, ''] : [name, ext];
  for (let n = 1; n <= mostNames; n += 1) {
    const end = n === 1 ? ending : ` (${n})${ending}`;
    yield shortened(stem, most - Buffer.byteLength(end)) + end;
  }
}

/** Maximum length in bytes of an extension that is kept whole. A name may be a dot and 254 other characters. */
const longestEnding = 32;

/** Truncates a text to a number of bytes without splitting a visible character. */
function shortened(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  let [kept, bytes] = ['', 0];
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    bytes += Buffer.byteLength(segment);
    if (bytes > most) break;
    kept += segment;
  }
  return kept;
}

/** Whether a file has the same name in another Unicode form. People, and many file systems, consider both the same. */
async function isTakenInOtherForm(name: string, to: HeldDirectory): Promise<boolean> {
  const others = spellings(name).filter((other) => other !== name);
  if (others.length === 0 || (await isThere(to.at(name)))) return false;
  const found = await Promise.all(others.map((other) => isThere(to.at(other))));
  return found.includes(true);
}

function isThere(path: string): Promise<boolean> {
  return succeeds(lstat(path));
}

/** @returns false if the name is taken */
async function place(file: MovableFile, to: string): Promise<boolean> {
  await file.confirm();
  try {
    await link(file.path, to);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EEXIST') return finish(file, to);
    if (code === 'EXDEV') return copyAcross(file, to);
    if (linkless.has(code)) return renameIfFree(file.path, to);
    throw error;
  }
  await forget(file.path, to);
  return true;
}

/**
 * Error codes of file systems without hard links, and of other users' files that may not be linked (proc_sys_fs(5),
 * protected_hardlinks).
 */
const linkless: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Removes the old name once the new one is durable. */
async function forget(from: string, to: string): Promise<void> {
  await syncPath(dirname(to));
  await unlink(from);
}

/** Finishes a move that crashed before the old name was removed. Returns false if the target is a different file. */
async function finish(file: MovableFile, to: string): Promise<boolean> {
  const [one, other] = await Promise.all([file.path, to].map((path) => lstat(path, { bigint: true })));
  if (one === undefined || other === undefined) return false;
  if (isReservation(other)) return renameIfFree(file.path, to);
  const isSame = one.ino === other.ino && one.dev === other.dev;
  // With a single link, both paths lead to the same name (a bind mount), and removing it would lose the file.
  if (isSame ? one.nlink < 2n : !(await file.hasCopyAt(to))) return false;
  if (!isSame) await file.confirm();
  await forget(file.path, to);
  return true;
}

/**
 * Renames a file on a file system without hard links. The name is reserved with an empty file that has no access
 * rights, and then taken over by a rename. The three calls are synchronous: a program that replaces the reservation in
 * those microseconds loses its file, and nothing in Node prevents that (docs/decisions/0020).
 */
async function renameIfFree(from: string, to: string): Promise<boolean> {
  try {
    closeSync(openSync(to, 'wx', 0));
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  if (!isReservation(lstatSync(to, { bigint: true }))) return false;
  renameSync(from, to);
  await syncPath(dirname(to));
  return true;
}

function isReservation(stats: BigIntStats): boolean {
  return stats.isFile() && stats.size === 0n && (stats.mode & 0o777n) === 0n && stats.nlink === 1n;
}

/**
 * Moves to another file system below the folder: copies under a hidden name, syncs, links, then removes the original.
 */
async function copyAcross(file: MovableFile, to: string): Promise<boolean> {
  if (await isThere(to)) return finish(file, to);
  const partial = `${dirname(to)}/${partialName(file.id)}`;
  try {
    await copyFile(file.source, partial, constants.COPYFILE_EXCL);
    await syncPath(partial);
    await file.confirm();
    if (!(await nameCopy(partial, to))) return false;
  } finally {
    await rm(partial, { force: true });
  }
  await forget(file.path, to);
  return true;
}

/** Gives a finished copy its name. Returns false if the name is taken. */
export async function nameCopy(partial: string, to: string): Promise<boolean> {
  try {
    await link(partial, to);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EEXIST') return false;
    if (linkless.has(code)) return renameIfFree(partial, to);
    throw error;
  }
}

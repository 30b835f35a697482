import { closeSync, lstatSync, openSync, renameSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { constants, copyFile, link, lstat, rm, unlink } from 'node:fs/promises';
import { dirname, posix } from 'node:path';
import { spellings } from '../../routing/file-name.ts';
import { errnoOf } from '../../errno.ts';
import type { HeldDirectory } from '../held-directory.ts';
import { syncPath } from '../sync-path.ts';

/** A file to move, out of reach of everybody else. */
export interface MovableFile {
  /** For system calls. */
  readonly path: string;
  /** Its path by an open descriptor, if possible, so that it cannot be replaced by a link. */
  readonly source: string;
  /** That it had, and gets if it is free. */
  readonly name: string;
  /** For the hidden name of an unfinished copy. */
  readonly id: string;
  /** @throws when it changed since it was checked */
  confirm(): Promise<void>;
  /** Whether another file is a copy of it that a crash left. */
  hasCopyAt(path: string): Promise<boolean>;
}

/** Thrown when every name that a file could get is taken. */
export class NoFreeNameError extends Error {
  override readonly name = 'NoFreeNameError';
}

/**
 * Moves a file without ever overwriting another: links the new name, which fails if it exists, then removes the old
 * one. Called again after a crash, it finishes what was begun.
 *
 * @returns its name there
 * @throws {NoFreeNameError} @throws what the system says
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

/** Bytes of the longest name: on most file systems, and on eCryptfs, which encrypted home directories use. */
export const nameLimits: readonly number[] = [255, 143];

/**
 * `clip.mp4`, `clip (2).mp4`, … A name that would be longer than the limit loses the end of its stem.
 *
 * @param most bytes of the longest name
 */
export function* freeNames(base: string, most: number): Generator<string> {
  const { name, ext } = posix.parse(base);
  const [stem, ending] = Buffer.byteLength(ext) > longestEnding ? [base, ''] : [name, ext];
  for (let n = 1; n <= mostNames; n += 1) {
    const end = n === 1 ? ending : ` (${n})${ending}`;
    yield shortened(stem, most - Buffer.byteLength(end)) + end;
  }
}

/** Bytes of the longest ending that is kept whole: a name may be a dot and 254 other characters. */
const longestEnding = 32;

/** As many whole characters, as a reader sees them, as fit into so many bytes. */
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

/** Whether a file has the same name in another Unicode form: to a person, and to many file systems, both are one. */
async function isTakenInOtherForm(name: string, to: HeldDirectory): Promise<boolean> {
  const others = spellings(name).filter((other) => other !== name);
  if (others.length === 0 || (await isThere(to.at(name)))) return false;
  const found = await Promise.all(others.map((other) => isThere(to.at(other))));
  return found.includes(true);
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
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
    if (code !== undefined && linkless.has(code)) return renameIfFree(file.path, to);
    throw error;
  }
  await forget(file.path, to);
  return true;
}

/**
 * File systems without hard links, and files of others that may not be linked (proc_sys_fs(5), protected_hardlinks).
 */
const linkless: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** The new name is durable before the old one goes. */
async function forget(from: string, to: string): Promise<void> {
  await syncPath(dirname(to));
  await unlink(from);
}

/** The name is taken, unless by this very file: a crash came before the old name was removed. */
async function finish(file: MovableFile, to: string): Promise<boolean> {
  const [one, other] = await Promise.all([file.path, to].map((path) => lstat(path, { bigint: true })));
  if (one === undefined || other === undefined) return false;
  if (isReservation(other)) return renameIfFree(file.path, to);
  const isSame = one.ino === other.ino && one.dev === other.dev;
  // The only link: both paths lead to one name (a bind mount), and without it the file is lost.
  if (isSame ? one.nlink < 2n : !(await file.hasCopyAt(to))) return false;
  if (!isSame) await file.confirm();
  await forget(file.path, to);
  return true;
}

/**
 * Without hard links, the name is reserved by an empty file without access rights, and then taken by a rename. The
 * three calls follow one another at once: a program that replaces the reservation in those microseconds loses its file,
 * and nothing in Node prevents it (docs/decisions/0020).
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

/** Another file system below the folder: copy under a hidden name, sync, link, and only then remove the original. */
async function copyAcross(file: MovableFile, to: string): Promise<boolean> {
  if (await isTaken(to)) return finish(file, to);
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

async function nameCopy(partial: string, to: string): Promise<boolean> {
  try {
    await link(partial, to);
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EEXIST') return false;
    if (code !== undefined && linkless.has(code)) return renameIfFree(partial, to);
    throw error;
  }
}

async function isTaken(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

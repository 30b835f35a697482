import { constants } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { copyFile, link, lstat, open, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, parse } from 'node:path';
import { errnoOf } from '../errno.ts';
import { canHold } from '../held-directory.ts';
import type { HeldDirectory } from '../held-directory.ts';
import { syncPath } from '../sync-path.ts';

/** How many names are tried for a moved file before it stays where it is. */
const mostNames = 10_000;

/**
 * Moves a file without ever overwriting another: links the new name, which fails if it exists, then removes the old one.
 *
 * @param from the path of the file
 * @param to the directory to move it to
 * @param id of the file, for the hidden name of an unfinished copy
 * @returns its name there; null if it already is in that directory (where case does not count, `Done` is `done`)
 * @throws what the system says, or an error when 10,000 names are taken
 */
export async function moveFile(from: string, to: HeldDirectory, id: string): Promise<string | null> {
  const here = await stat(dirname(from), { bigint: true });
  if (isSame(here, await stat(to.at('.'), { bigint: true }))) return null;
  const { name, ext } = parse(from);
  for (let n = 1; n <= mostNames; n += 1) {
    const free = n === 1 ? `${name}${ext}` : `${name} (${n})${ext}`;
    if (await place(from, to.at(free), id)) return free;
  }
  throw new Error(`the directory already has ${mostNames} files named like ${JSON.stringify(basename(from))}`);
}

/** @returns false if the name is taken */
async function place(from: string, to: string, id: string): Promise<boolean> {
  try {
    await link(from, to);
    await unlink(from);
    await syncPath(dirname(to));
    return true;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EEXIST') return finishMove(from, to);
    if (code === 'EXDEV') return copyAcross(from, to, id);
    // File systems without hard links (exFAT, some shares) have no atomic way: reserve the name, then rename.
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'EOPNOTSUPP') return renameIfFree(from, to);
    throw error;
  }
}

/** The name is taken, unless by this very file: a crash came between the new name and the removal of the old one. */
async function finishMove(from: string, to: string): Promise<boolean> {
  const [one, other] = await Promise.all([lstat(from, { bigint: true }), lstat(to, { bigint: true })]);
  if (!isSame(one, other)) return false;
  // The only link: both paths lead to one name, and without it the file is lost.
  if (one.nlink < 2n) return true;
  await unlink(from);
  await syncPath(dirname(to));
  return true;
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

async function renameIfFree(from: string, to: string): Promise<boolean> {
  try {
    await (await open(to, 'wx')).close();
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    await rename(from, to);
  } catch (error) {
    await unlink(to);
    throw error;
  }
  await syncPath(dirname(to));
  return true;
}

/** Another file system below the folder: copy under a hidden name, sync, link, and only then remove the original. */
async function copyAcross(from: string, to: string, id: string): Promise<boolean> {
  const partial = `${dirname(to)}/.dropcast-${id}.part`;
  await rm(partial, { force: true });
  try {
    await copyRegular(from, partial);
    const copy = await open(partial, 'r+');
    try {
      await copy.sync();
    } finally {
      await copy.close();
    }
    await link(partial, to);
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(partial, { force: true });
  }
  await syncPath(dirname(to));
  await unlink(from);
  return true;
}

/** `copyFile` follows links, so it gets the path of the open descriptor, which nobody can swap for a link. */
async function copyRegular(from: string, to: string): Promise<void> {
  await using source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const path = canHold() ? `/proc/self/fd/${source.fd}` : from;
  await copyFile(path, to, constants.COPYFILE_EXCL);
}

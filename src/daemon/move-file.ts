import { constants } from 'node:fs';
import { copyFile, link, lstat, open, rename, rm, unlink } from 'node:fs/promises';
import { basename, dirname, parse } from 'node:path';
import { syncPath } from '../ledger/sync-path.ts';
import { codeOf } from '../service/errors.ts';
import type { HeldDirectory } from './held-directory.ts';

/** Free names tried for a moved file before it is left where it is. */
const mostNames = 10_000;

/**
 * Moves without ever overwriting: the new name is linked, which fails if it exists, then the old one is taken away.
 *
 * @param from the path of the file
 * @param to the directory that it goes to
 * @param id of the file, for the hidden name of a copy that is not yet whole
 * @returns the name that it has there
 */
export async function moveFile(from: string, to: HeldDirectory, id: string): Promise<string> {
  const { name, ext } = parse(from);
  for (let n = 1; n <= mostNames; n += 1) {
    const free = n === 1 ? `${name}${ext}` : `${name} (${n})${ext}`;
    if (await place(from, to.at(free), id)) return free;
  }
  throw new Error(`the directory holds ${mostNames} files named like ${JSON.stringify(basename(from))}`);
}

/** @returns false when the name is taken */
async function place(from: string, to: string, id: string): Promise<boolean> {
  try {
    await link(from, to);
    await unlink(from);
    await syncPath(dirname(to));
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return finishMove(from, to);
    if (code === 'EXDEV') return copyAcross(from, to, id);
    // File systems without hard links (exFAT, some shares): no atomic way, so look, then rename.
    if (code === 'EPERM' || code === 'ENOTSUP' || code === 'EOPNOTSUPP') return renameIfFree(from, to);
    throw error;
  }
}

/** The name is taken, unless by this very file: a crash came between its new name and the end of the old one. */
async function finishMove(from: string, to: string): Promise<boolean> {
  const [one, other] = await Promise.all([lstat(from, { bigint: true }), lstat(to, { bigint: true })]);
  if (one.ino !== other.ino || one.dev !== other.dev) return false;
  await unlink(from);
  await syncPath(dirname(to));
  return true;
}

async function renameIfFree(from: string, to: string): Promise<boolean> {
  try {
    await (await open(to, 'wx')).close();
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
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

/** Another file system below the folder: copy under a hidden name, sync, put in place, and only then take the original away. */
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
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(partial, { force: true });
  }
  await syncPath(dirname(to));
  await unlink(from);
  return true;
}

/** `copyFile` follows a link: what it is given is the open file, which nobody can swap for one. */
async function copyRegular(from: string, to: string): Promise<void> {
  await using source = await open(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const path = process.platform === 'linux' ? `/proc/self/fd/${source.fd}` : from;
  await copyFile(path, to, constants.COPYFILE_EXCL);
}

import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { posix } from 'node:path';
import { errnoOf } from '../errno.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { linkFileOf } from '../routing/link-file.ts';
import { inDirectory } from './held-directory.ts';
import type { Watched } from './held-directory.ts';
import { syncPath } from './file-system.ts';
import { nameCopy } from './put-away/move-file.ts';

/** Identifies link files. Anything without it is never replaced. */
const author = 'dropcast';
/** Larger files are not link files. */
const mostBytes = 64 * 1024;

/**
 * Writes a video's link file next to it: under a hidden name first, then under its own. Replaces only an earlier link
 * file of dropcast. After a crash at any point, the next call leaves one whole file.
 *
 * @returns the path of the link file, relative to the folder
 * @throws {Error} another file has the name @throws {NotInFolderError} @throws the file system's error
 */
export async function writeLinkFile({ folder, path, id }: Watched<Facts>, content: object): Promise<string> {
  const name = posix.basename(linkFileOf(path));
  const text = `${JSON.stringify({ v: 1, written_by: author, file: id, ...content }, null, 2)}\n`;
  await inDirectory({ folder, directory: posix.dirname(path) }, async (held) => {
    const isOurs = await isLinkFileOfOurs(held.at(name));
    const partial = held.at(`.dropcast-${id}.link`);
    try {
      await writeNew(partial, text);
      if (isOurs) await rename(partial, held.at(name));
      else if (!(await nameCopy(partial, held.at(name)))) throw foreign(name);
    } finally {
      await rm(partial, { force: true });
    }
    await syncPath(held.at('.'));
  });
  return linkFileOf(path);
}

/** @returns false if there is no such file @throws {Error} another file has the name */
async function isLinkFileOfOurs(path: string): Promise<boolean> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = await file.stat();
    if (!found.isFile() || found.size > mostBytes || !isByAuthor(await file.readFile('utf8'))) throw foreign(path);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw errnoOf(error) === 'ELOOP' ? foreign(path) : error;
  }
}

function isByAuthor(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly written_by?: unknown } | null)?.written_by === author;
  } catch {
    return false;
  }
}

/** A crash may have left a part under this hidden name. */
async function writeNew(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  await using file = await open(path, 'wx', 0o644);
  await file.writeFile(text);
  await file.sync();
}

/** dropcast did not write what has the name of a link file. */
function foreign(path: string): Error {
  return new Error(`${JSON.stringify(posix.basename(path))} is not a link file of dropcast`);
}

import { createHash } from 'node:crypto';
import { constants, lstat } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { errnoOf } from '../errno.ts';
import { isRefusal, whyClosed } from '../read-permission.ts';
import { NotInFolderError, inDirectory } from '../disk/held-directory.ts';

/** A sidecar or link file, read: its text, null when there is none, or why it cannot be used. */
export type SmallText = string | null | { readonly why: string };

export interface SmallFile {
  readonly name: string;
  readonly text: SmallText;
  /** Of what was read, hex; null when nothing was. */
  readonly sha256: string | null;
  /** Which file it is; null when nothing was read. */
  readonly id: string | null;
}

/**
 * Reads small files of one directory of a watched folder. Never follows a link, never blocks on a FIFO, never reads outside the folder.
 *
 * @param folder absolute path of the watched folder
 * @param paths relative to the folder, all in the same directory
 * @returns in the order of `paths`
 */
export async function readBeside(folder: string, paths: readonly string[]): Promise<readonly SmallFile[]> {
  const [first] = paths;
  if (first === undefined) return [];
  const names = paths.map((path) => posix.basename(path));
  // Most files have nothing beside them. Each directory on the way costs two system calls.
  if (!(await mayOneBeThere(paths.map((path) => join(folder, path)))))
    return names.map((name) => ({ name, text: null, sha256: null, id: null }));
  try {
    return await inDirectory({ folder, directory: posix.dirname(first) }, async (held) =>
      Promise.all(names.map(async (name) => ({ name, ...(await readSmall(held.at(name))) }))),
    );
  } catch (error) {
    // A directory that is missing, or is a link now, holds nothing that may speak for a file.
    const text = error instanceof NotInFolderError ? null : unread(error);
    return names.map((name) => ({ name, text, sha256: null, id: null }));
  }
}

/**
 * False: certainly none. Through a link on the way nothing is read here either. One promise for all of them: a promise for each, with the
 * trace of its error, takes twice the time.
 */
function mayOneBeThere(paths: readonly string[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let unanswered = paths.length;
  for (const path of paths)
    lstat(path, (error) => {
      unanswered -= 1;
      if (error === null || unread(error) !== null) resolve(true);
      else if (unanswered === 0) resolve(false);
    });
  return promise;
}

/** Sidecars and links are a few lines; anything longer is something else. */
const mostBytes = 256 * 1024;

async function readSmall(path: string): Promise<Omit<SmallFile, 'name'>> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = errnoOf(error);
    const text = isRefusal(code) ? { why: `cannot be read: ${await whyClosed(path, 'file', code)}` } : unread(error);
    return { text, sha256: null, id: null };
  }
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return useless('is not a regular file');
    const bytes = stats.size > mostBytes ? null : await readAtMost(mostBytes, file);
    if (bytes === null) return useless(`is larger than ${mostBytes / 1024} KiB`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, sha256: createHash('sha256').update(bytes).digest('hex'), id: `${stats.dev}:${stats.ino}` };
  } catch (error) {
    return useless(error instanceof TypeError ? 'is not UTF-8 text' : 'cannot be read');
  } finally {
    await file.close();
  }
}

/** All of a file, or null if it has more bytes: it may grow, and a file system may report any size. */
async function readAtMost(most: number, file: FileHandle): Promise<Buffer | null> {
  const buffer = Buffer.allocUnsafe(most + 1);
  for (let length = 0; length <= most;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) return buffer.subarray(0, length);
    length += bytesRead;
  }
  return null;
}

function useless(why: string): Omit<SmallFile, 'name'> {
  return { text: { why }, sha256: null, id: null };
}

function unread(error: unknown): SmallText {
  const code = errnoOf(error);
  // A video may have the longest possible name; then no sidecar with a longer one can exist.
  const isMissing = code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG';
  return isMissing ? null : { why: `cannot be read (${code})` };
}

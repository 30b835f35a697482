import { constants, type Stats } from 'node:fs';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { errnoOf, errnoSentence } from '../errno.ts';

/**
 * A file's bytes and permission bits, both read from one descriptor; or why it cannot be read, such as `permission
 * denied (EACCES)`.
 */
export type ReadResult =
  | { readonly ok: true; readonly bytes: Buffer; readonly mode: number }
  | { readonly ok: false; readonly message: string; readonly errno: string | null };

/**
 * Reads a small regular file. Follows symbolic links because mounted secrets and configuration maps are links. Opens
 * with `O_NONBLOCK` because opening a FIFO would otherwise wait for a writer.
 *
 * @param maxBytes the limit, regardless of the size the file reports
 * @param refuse returns why the file must not be read, or null. Receives the stat of the open file, so no other user
 *   can swap the file in between
 */
export async function readRegularFile(
  path: string,
  maxBytes: number,
  refuse?: (path: string, stat: Stats) => Promise<string | null>,
): Promise<ReadResult> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const stat = await file.stat();
    if (stat.isDirectory()) return refused('is a directory');
    if (!stat.isFile()) return refused('is not a regular file');
    const objection = (await refuse?.(path, stat)) ?? null;
    if (objection !== null) return refused(objection);
    const bytes = await readUpTo(file, maxBytes + 1);
    if (bytes.length > maxBytes) return refused(`is larger than ${maxBytes / 1024} KiB`);
    return { ok: true, bytes, mode: stat.mode & 0o777 };
  } catch (cause) {
    return { ok: false, message: errnoSentence(cause), errno: errnoOf(cause) };
  }
}

function refused(message: string): ReadResult {
  return { ok: false, message, errno: null };
}

async function readUpTo(file: FileHandle, size: number): Promise<Buffer> {
  const buffer = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await file.read(buffer, length, size - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/** A user's name for a message: from passwd(5), or `user 1001` if it has none, as with directory service users. */
export async function userName(uid: number): Promise<string> {
  return (await passwdName(uid)) ?? `user ${uid}`;
}

/** A user and group for chown(1): the user's own group, or `gid` if the user has no name. */
export async function userAndGroup(uid: number, gid: number): Promise<string> {
  const name = await passwdName(uid);
  return name === null ? `${uid}:${gid}` : `${name}:`;
}

async function passwdName(uid: number): Promise<string | null> {
  const table = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const entries = table.split('\n').map((line) => line.split(':'));
  return entries.find(([, , id]) => id === String(uid))?.[0] ?? null;
}

import { constants, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { errnoOf, errnoSentence } from './errno.ts';

/** The bytes and permission bits of a file, both of one descriptor; or why not, as `permission denied (EACCES)`. */
export type ReadResult =
  | { readonly ok: true; readonly bytes: Buffer; readonly mode: number }
  | { readonly ok: false; readonly message: string; readonly errno: string | null };

/**
 * Reads a small regular file. Links are followed: mounted secrets and configuration maps are links. `O_NONBLOCK`, because
 * to open a FIFO would else wait for a writer. More is never read than `maxBytes`, whatever size the file says it has.
 *
 * @param check why nothing of the file may be read, if so. It is shown the file that is open, which nobody can swap any more.
 */
export async function readRegularFile(
  path: string,
  maxBytes: number,
  check?: (path: string, stat: Stats) => Promise<string | null>,
): Promise<ReadResult> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const stat = await file.stat();
    if (stat.isDirectory()) return refused('is a directory');
    if (!stat.isFile()) return refused('is no regular file');
    const objection = (await check?.(path, stat)) ?? null;
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

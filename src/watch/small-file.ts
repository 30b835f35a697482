import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { errnoOf } from '../errno.ts';

const mostBytes = 16_384;

/**
 * Reads the beginning of a file that anybody may have put there: follows no link, waits for no pipe, and reads no more than 16 KiB.
 *
 * @returns null when it is not a regular file
 * @throws what the system says
 */
export async function readSmallFile(path: string): Promise<string | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(mostBytes) });
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    const code = errnoOf(error);
    // A link, a socket.
    if (code === 'ELOOP' || code === 'ENXIO') return null;
    throw error;
  }
}

import { posix } from 'node:path';
import { durationOf } from '@dropcast/media';
import { openRegular } from './accepted-file.ts';
import { inDirectory } from './held-directory.ts';

/**
 * Returns a file's duration according to its container. Reads only a few pieces of the file and follows no link out of
 * its folder.
 *
 * @returns seconds; null if the container does not state the duration, the format is unknown, or the file cannot be
 *   read
 */
export async function mediaDuration(folder: string, path: string): Promise<number | null> {
  try {
    await using file = await inDirectory({ folder, directory: posix.dirname(path) }, (held) =>
      openRegular(held.at(posix.basename(path))),
    );
    const stats = await file.stat();
    if (!stats.isFile()) return null;
    return await durationOf(async (position, length) => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    }, stats.size);
  } catch {
    return null;
  }
}

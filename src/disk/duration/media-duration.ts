import { posix } from 'node:path';
import { openRegular } from '../accepted-file.ts';
import { inDirectory } from '../held-directory.ts';
import { flacDuration } from './flac.ts';
import { isoMediaDuration } from './iso-media.ts';
import { matroskaDuration } from './matroska.ts';
import { waveDuration } from './wave.ts';

/** Reads at most `length` bytes at a position; fewer at the end of the file. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/**
 * How long a file plays, as its container says. Reads a few pieces of it, whatever is in it, and follows no link out of its folder.
 *
 * @returns seconds; null when its container does not say, is not known, or the file cannot be read
 */
export async function mediaDuration(folder: string, path: string): Promise<number | null> {
  try {
    await using file = await inDirectory({ folder, directory: posix.dirname(path) }, (held) =>
      openRegular(held.at(posix.basename(path))),
    );
    const stats = await file.stat();
    if (!stats.isFile()) return null;
    return await durationIn(async (position, length) => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    });
  } catch {
    return null;
  }
}

/** The same for bytes that lie anywhere. @throws what `readAt` throws */
export async function durationIn(readAt: ReadAt): Promise<number | null> {
  const start = await readAt(0, startBytes);
  for (const durationOf of formats) {
    const seconds = await durationOf(readAt, start);
    if (seconds !== null) return seconds > 0 && seconds < longestSeconds ? seconds : null;
  }
  return null;
}

/** Each knows its own by the first bytes of the file. */
const formats: readonly ((readAt: ReadAt, start: Buffer) => Promise<number | null>)[] = [
  isoMediaDuration,
  matroskaDuration,
  waveDuration,
  flacDuration,
];

const startBytes = 64;
/** A year. Whoever says more is wrong. */
const longestSeconds = 366 * 86_400;

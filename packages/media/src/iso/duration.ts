import { boxesIn } from './boxes.ts';
import type { Box } from './boxes.ts';
import { timesOf } from './fragment.ts';
import type { FragmentTime } from './fragment.ts';
import { segmentsIn } from './layout.ts';
import type { Layout } from './layout.ts';
import type { MediaFile, ReadAt } from '../media-file.ts';
import { tracksOf } from './movie.ts';

interface MovieSeconds {
  /** Duration of the samples that the movie itself lists. */
  readonly seconds: number | null;
  /** Whether the movie continues in fragments (`mvex`). */
  readonly isFragmented: boolean;
  /** Duration including all fragments, as stated by the writer (`mehd`). */
  readonly stated: number | null;
}

/** Reads the durations in a movie header, ISO/IEC 14496-12, 8.2.2 and 8.8.2. */
export async function movieSeconds(readAt: ReadAt, movie: Box): Promise<MovieSeconds> {
  const boxes = await boxesIn(readAt, movie);
  const bytes = await contentOf(readAt, boxes, 'mvhd');
  const extension = boxes.find(({ type }) => type === 'mvex');
  const scale = bytes.length < 32 ? 0 : bytes.readUInt32BE(bytes[0] === 1 ? 20 : 12);
  const inSeconds = (units: number | null): number | null => (scale === 0 || units === null ? null : units / scale);
  const header = extension && (await contentOf(readAt, await boxesIn(readAt, extension), 'mehd'));
  return {
    seconds: inSeconds(lengthIn(bytes, bytes[0] === 1 ? 24 : 16)),
    isFragmented: extension !== undefined,
    stated: inSeconds(header === undefined ? null : lengthIn(header, 4)),
  };
}

/** Reads a length; `null` if it is truncated, or if it is 0 or all ones, which mean that it is unknown. */
function lengthIn(bytes: Buffer, at: number): number | null {
  const isLong = bytes[0] === 1;
  if (bytes.length < at + (isLong ? 8 : 4)) return null;
  const units = isLong ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at);
  return units === 0 || units === (isLong ? 2 ** 64 : 0xffff_ffff) ? null : units;
}

async function contentOf(readAt: ReadAt, boxes: readonly Box[], wanted: string): Promise<Buffer> {
  const box = boxes.find(({ type }) => type === wanted);
  return box === undefined ? Buffer.alloc(0) : readAt(box.contentAt, Math.min(Number(box.end) - box.contentAt, 32));
}

/**
 * Returns the time from the beginning of the first fragment to the end of the last, or from the beginning of the movie
 * if it has samples of its own.
 */
export async function fragmentSeconds(
  readAt: ReadAt,
  movie: Box,
  [first, last]: readonly [first: Box, last: Box],
): Promise<number | null> {
  const tracks = await tracksOf(readAt, movie);
  if (tracks === 'unwritten') return null;
  const hasSamples = tracks.some(({ end }) => end > 0);
  const defaults = await defaultDurations(readAt, movie);
  const starts = hasSamples ? [] : await timesOf(readAt, first, defaults);
  const seconds = (await timesOf(readAt, last, defaults)).map(({ id, end }: FragmentTime) => {
    const timescale = tracks.find((track) => track.id === id)?.timescale ?? 0;
    const start = starts.find((time) => time.id === id)?.start ?? 0;
    return end === null || timescale === 0 ? 0 : (end - start) / timescale;
  });
  const longest = Math.max(0, ...seconds);
  return longest > 0 ? longest : null;
}

/** Returns each track's default sample duration, for fragments without their own (`trex`). */
async function defaultDurations(readAt: ReadAt, movie: Box): Promise<ReadonlyMap<number, number>> {
  const extension = (await boxesIn(readAt, movie)).find(({ type }) => type === 'mvex');
  const durations = new Map<number, number>();
  for (const { type, contentAt } of extension === undefined ? [] : await boxesIn(readAt, extension)) {
    const bytes = type === 'trex' ? await readAt(contentAt, 24) : Buffer.alloc(0);
    if (bytes.length === 24) durations.set(bytes.readUInt32BE(4), bytes.readUInt32BE(12));
  }
  return durations;
}

/**
 * Returns the duration from an index of all segments, if the indexed segments end with the file, or are followed only
 * by the table at its end.
 */
export async function indexSeconds({ readAt, size }: MediaFile, { index }: Layout): Promise<number | null> {
  const segments = index && (await segmentsIn(readAt, index));
  if (segments === null) return null;
  const isAll = segments.end === size || (await readAt(segments.end, 8)).toString('latin1', 4, 8) === 'mfra';
  return isAll ? segments.seconds : null;
}

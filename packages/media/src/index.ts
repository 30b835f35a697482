import { chunksEnd, chunksDuration, isOfChunks } from './chunks.ts';
import { asfEnd, isAsf } from './asf.ts';
import { flacDuration, flacEnd, isFlac } from './flac.ts';
import { flvEnd, isFlv } from './flv.ts';
import { isIsoMedia, isoMediaDuration, isoMediaEnd } from './iso/iso-media.ts';
import { isMatroska, matroskaDuration, matroskaEnd } from './matroska.ts';
import { openMedia, TooMuchError } from './media-file.ts';
import type { MediaFile, ReadAt } from './media-file.ts';
import { isMp3, mp3End } from './mp3.ts';
import { isMxf, mxfEnd } from './mxf.ts';
import { noMedia } from './no-media.ts';
import { isTransportStream, transportStreamEnd } from './transport-stream.ts';
import { sound } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export type { ReadAt } from './media-file.ts';
export type { Flaw, Verdict } from './verdict.ts';

/**
 * Checks where a media file ends against the lengths and counts stated in its container. Only a few pieces of the file
 * are read, never the whole file, for any content: at most 500 reads and 3 MiB, plus 8 MiB to find the last of
 * thousands of fragments. Content in an unknown container counts as sound (docs/decisions/0047).
 *
 * @param size file size in bytes
 * @throws only errors from `readAt`
 */
export async function endOf(readAt: ReadAt, size: number): Promise<Verdict> {
  const file = await openMedia(readAt, size);
  return bounded(sound(), async () => (await containerOf(file))?.end(file) ?? noMedia(file));
}

/**
 * Returns the playing time of a media file according to its container, within the same limits.
 *
 * @param size file size in bytes
 * @returns seconds, above 0; `null` if the container does not state the duration, contradicts its own bytes, or is
 *   unknown
 * @throws only errors from `readAt`
 */
export async function durationOf(readAt: ReadAt, size: number): Promise<number | null> {
  const file = await openMedia(readAt, size);
  const seconds = await bounded(null, async () => (await containerOf(file))?.duration?.(file) ?? null);
  return seconds !== null && seconds > 0 && seconds < LONGEST_SECONDS ? seconds : null;
}

/** Longest plausible duration: a year. */
const LONGEST_SECONDS = 366 * 86_400;

interface Container {
  readonly is: (file: MediaFile) => boolean | Promise<boolean>;
  readonly end: (file: MediaFile) => Promise<Verdict>;
  readonly duration?: (file: MediaFile) => Promise<number | null>;
}

/** All known containers, each with a check of how a file begins. The first match reads the file. */
const containers: readonly Container[] = [
  { is: isMatroska, end: matroskaEnd, duration: matroskaDuration },
  { is: isOfChunks, end: chunksEnd, duration: chunksDuration },
  { is: isFlac, end: flacEnd, duration: flacDuration },
  { is: isMxf, end: mxfEnd },
  { is: isTransportStream, end: transportStreamEnd },
  { is: isAsf, end: asfEnd },
  { is: isFlv, end: flvEnd },
  { is: isMp3, end: mp3End },
  { is: isIsoMedia, end: isoMediaEnd, duration: isoMediaDuration },
];

async function containerOf(file: MediaFile): Promise<Container | undefined> {
  for (const container of containers) if (await container.is(file)) return container;
  return undefined;
}

/** Runs a parser, and returns `tooMuch` for a container with more parts than any real one has. */
async function bounded<T>(tooMuch: T, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TooMuchError) return tooMuch;
    throw error;
  }
}

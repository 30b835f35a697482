import { missingBytes } from '../verdict.ts';
import type { ReadAt } from '../media-file.ts';

/** What an index states about a track's last samples (frames). */
export interface Samples {
  /** Lowest possible offset at which the samples end. */
  readonly end: number;
  /** Exact offset at which they end; `null`: unknown. */
  readonly wholeEnd: number | null;
  /** A frame that is not tiny; `null` if none has a known position. */
  readonly frame: Frame | null;
  /** Four characters; '' if unknown. */
  readonly codec: string;
}

export interface Frame {
  /** Offset and length, both in bytes. */
  readonly at: number;
  readonly length: number;
}

/**
 * Returns the last frame that is not tiny, given the sizes of consecutive samples. @param at offset of the first sample
 */
export function lastFrame(at: number, sizes: readonly number[]): Frame | null {
  let frame: Frame | null = null;
  let begin = at;
  for (const length of sizes) {
    if (length >= LEAST_FRAME_BYTES) frame = { at: begin, length };
    begin += length;
  }
  return frame;
}

/**
 * Returns a flaw if bytes are missing at the end, or if zeros are found in place of the last frame, in space reserved
 * by an unfinished copy.
 */
export async function sampleFlaw(readAt: ReadAt, size: number, tracks: readonly Samples[]): Promise<string | null> {
  const end = tracks.reduce((latest, track) => Math.max(latest, track.end), 0);
  const missing = missingBytes(end, size);
  if (missing !== null) return missing;
  const frames = tracks.flatMap(({ codec, frame }) => (frame !== null && NEVER_ZEROS.has(codec) ? [frame] : []));
  const last = frames.reduce<Frame | null>((one, other) => (one === null || other.at > one.at ? other : one), null);
  if (last === null) return null;
  const bytes = await readAt(last.at, Math.min(last.length, START_OF_FRAME));
  return bytes.every((byte) => byte === 0)
    ? 'the container says a frame is where only zeros have been written yet'
    : null;
}

const LEAST_FRAME_BYTES = 16;
const START_OF_FRAME = 64;

/**
 * Codecs whose frames begin with a length, a marker or a header. Uncompressed audio is not among them, because silence
 * is all zeros.
 */
const NEVER_ZEROS = new Set(
  (
    'avc1 avc2 avc3 avc4 hvc1 hev1 dvh1 dvhe dva1 dvav vvc1 vvi1 vp08 vp09 av01 mp4v jpeg mjpa mjpb ' +
    'apch apcn apcs apco ap4h ap4x AVdh AVdn mp4a ac-3 ec-3'
  ).split(' '),
);

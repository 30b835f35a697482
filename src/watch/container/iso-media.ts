import { boxAt } from './iso-boxes.ts';
import type { Box } from './iso-boxes.ts';
import { samplesOf } from './iso-fragment.ts';
import { tracksOf } from './iso-index.ts';
import type { Track } from './iso-index.ts';
import { sampleFlaw } from './iso-samples.ts';
import type { Samples } from './iso-samples.ts';
import { missingBytes } from './missing-bytes.ts';
import type { ReadAt } from './read-at.ts';

/**
 * MP4 and QuickTime. ISO/IEC 14496-12, 4.2: a row of boxes, each with a 32-bit length and a type; length 1 means that a 64-bit length follows, length 0
 * that the box ends with the file. Complete = every box ends inside the file, one of them is `moov`, and the last samples that it and the last
 * fragment know of are in the file. Behind a whole `moov` and a whole `mdat` some tools leave bytes that are no box (half a tag, the trailer
 * of a camera); players skip them.
 *
 * @param start the first bytes of the file
 */
export async function isoMediaFlaw(readAt: ReadAt, size: number, start: Buffer): Promise<string | null> {
  if (!FIRST_BOXES.has(start.toString('latin1', 4, 8))) return null;
  const { flaw, movie, fragment, isImage, isLong } = await walk(readAt, size);
  if (flaw !== null || isLong) return flaw;
  if (movie === null) return isImage ? null : 'the container has no index (moov) yet';
  const tracks = await tracksOf(readAt, movie);
  if (tracks === 'unwritten') return 'the index of the container (moov) is only partly written yet';
  const samples = fragment === null ? [] : await samplesOf(readAt, fragment.box, tracks);
  if (samples === 'unwritten') return UNWRITTEN_FRAGMENT;
  const missing = await sampleFlaw(readAt, size, [...tracks, ...samples]);
  if (missing !== null) return missing;
  if (fragment === null) return hasNoSamples(tracks) ? 'the container has no media data yet' : null;
  return fragment.hasData || isBefore(samples, fragment.box) ? null : UNWRITTEN_FRAGMENT;
}

/** The beginning of a fragmented recording. */
function hasNoSamples(tracks: readonly Track[]): boolean {
  return tracks.length > 0 && tracks.every(({ end }) => end === 0);
}

/** Whether the media data of a fragment are in front of it, which is not usual, or there are none. */
function isBefore(samples: readonly Samples[], { at }: Box): boolean {
  return samples.every(({ end }) => end > 0 && end <= at);
}

const UNWRITTEN_FRAGMENT = 'the last fragment of the container is only partly written yet';

/** Old QuickTime files have no `ftyp`. Segments of a stream (`styp`, `moof` first) have no `moov` by design: not in the list. */
const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);
/** Two a fragment: nine hours of fragments of a second. What is longer is not judged. */
const MOST_BOXES = 65_536;
/** So many are walked however small they are. Behind them, boxes smaller than this on average are not judged. */
const MOST_SMALL_BOXES = 4096;
const SMALL_BYTES = 256;

/** The boxes of a file's top level: one of these that ends behind the file is cut off. */
const LATER_BOXES = 'moof mfra styp sidx ssix prft emsg imda pdin meta meco udta uuid PICT !mov !mof !six !ssx';
const TOP_BOXES = new Set([...FIRST_BOXES, ...LATER_BOXES.split(' ')]);
const MEDIA_DATA = new Set(['mdat', 'imda']);

interface Layout {
  readonly flaw: string | null;
  /** Players take the first. */
  readonly movie: Box | null;
  /** The last. */
  readonly fragment: Fragment | null;
  /** Still images (HEIF) have `meta` in the place of `moov`. */
  readonly isImage: boolean;
  /** It was not walked to its end. */
  readonly isLong: boolean;
}

interface Fragment {
  readonly box: Box;
  /** Whether media data follow it. */
  readonly hasData: boolean;
}

async function walk(readAt: ReadAt, size: number): Promise<Layout> {
  const types = new Set<string>();
  let movie: Box | null = null;
  let fragment: Fragment | null = null;
  let position = 0;
  const layout = (flaw: string | null, isLong = false): Layout => {
    return { flaw, movie, fragment, isImage: types.has('meta'), isLong };
  };
  for (let count = 0; count < MOST_BOXES; count += 1) {
    if (count >= MOST_SMALL_BOXES && position < count * SMALL_BYTES) break;
    const box = await boxAt(readAt, position, size);
    if (typeof box === 'string') return layout(null);
    const flaw = missingBytes(box.end, size);
    if (flaw !== null) return layout(isStray(box.type, types) ? null : flaw);
    types.add(box.type);
    if (box.type === 'moov') movie ??= box;
    if (box.type === 'moof') fragment = { box, hasData: false };
    if (MEDIA_DATA.has(box.type) && fragment !== null) fragment = { ...fragment, hasData: true };
    position = Number(box.end);
  }
  return layout(null, true);
}

/** Whether what looks like the header of a box is text or the like, behind everything that a player needs. */
function isStray(type: string, types: ReadonlySet<string>): boolean {
  return types.has('moov') && types.has('mdat') && !TOP_BOXES.has(type);
}

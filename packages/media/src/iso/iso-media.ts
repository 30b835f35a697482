import { boxAt } from './boxes.ts';
import type { Box } from './boxes.ts';
import { movieSeconds, fragmentSeconds, indexSeconds } from './duration.ts';
import { samplesOf } from './fragment.ts';
import { flawed, sound } from '../media-file.ts';
import type { MediaFile, Verdict } from '../media-file.ts';
import { tracksOf, sampleFlaw } from './movie.ts';
import type { Samples } from './movie.ts';
import { FIRST_BOXES, layoutOf, MEDIA_DATA, OTHER_BOXES, SEGMENT_BOXES } from './layout.ts';
import type { Layout } from './layout.ts';

/** Whether a file begins like an MP4 or QuickTime movie, possibly after a few unknown boxes. */
export async function isIsoMedia({ readAt, size, start }: MediaFile): Promise<boolean> {
  const first = start.toString('latin1', 4, 8);
  if ([FIRST_BOXES, SEGMENT_BOXES, OTHER_BOXES].some((types) => types.has(first))) return true;
  let position = 0;
  for (let count = 0; count < MOST_UNKNOWN_BOXES; count += 1) {
    const box = await boxAt(readAt, position, size);
    if (typeof box === 'string') return false;
    if (FIRST_BOXES.has(box.type)) return true;
    if (box.end >= size) return false;
    position = Number(box.end);
  }
  return false;
}

/** Maximum number of unknown boxes before the first known one. */
const MOST_UNKNOWN_BOXES = 8;

/**
 * MP4 and QuickTime, ISO/IEC 14496-12, 4.2: a sequence of boxes, each with a 32-bit length and a type. Length 1 means
 * that a 64-bit length follows; length 0 means that the box ends with the file. A file is complete if every box ends
 * inside the file, one of them is `moov`, and the file contains the last samples listed by `moov` and the last
 * fragment. After a complete `moov` and `mdat`, some tools leave bytes that are not a box (half a tag, a camera's
 * trailer); players skip them. A segment of a stream, which has no `moov`, is not judged.
 */
export async function isoMediaEnd(file: MediaFile): Promise<Verdict> {
  if (SEGMENT_BOXES.has(file.start.toString('latin1', 4, 8))) return sound();
  const layout = await layoutOf(file);
  const { cut, movie, isImage, isLong, end } = layout;
  if (cut !== null) return (await isOnlyTooLong(file, layout)) ? flawed('small', cut.why) : flawed('missing', cut.why);
  if (isLong) return sound();
  if (movie === null) return isImage ? sound(end) : flawed('missing', 'the container has no index (moov) yet');
  const why = await flawIn(file, movie, layout);
  return why === null ? sound(end) : flawed('missing', why);
}

/** Returns the duration in seconds. The header of a movie that continues in fragments does not contain it. */
export async function isoMediaDuration(file: MediaFile): Promise<number | null> {
  const layout = await layoutOf(file);
  if (layout.movie === null) return null;
  const { seconds, isFragmented, stated } = await movieSeconds(file.readAt, layout.movie);
  if (!isFragmented) return seconds;
  const { first, last } = layout.fragments;
  if (first === null || last === null) return layout.isLong ? stated : (stated ?? seconds);
  const counted = layout.isLong ? null : await fragmentSeconds(file.readAt, layout.movie, [first.box, last.box]);
  return counted ?? (await indexSeconds(file, layout)) ?? stated;
}

async function flawIn({ readAt, size }: MediaFile, movie: Box, { fragments }: Layout): Promise<string | null> {
  const tracks = await tracksOf(readAt, movie);
  if (tracks === 'unwritten') return 'the index of the container (moov) is only partly written yet';
  const fragment = fragments.last;
  const samples = fragment === null ? [] : await samplesOf(readAt, fragment.box, tracks);
  if (samples === 'unwritten') return UNWRITTEN_FRAGMENT;
  const missing = await sampleFlaw(readAt, size, [...tracks, ...samples]);
  if (missing !== null) return missing;
  if (fragment === null) return hasNoSamples(tracks) ? 'the container has no media data yet' : null;
  return fragment.hasData || isBefore(samples, fragment.box) ? null : UNWRITTEN_FRAGMENT;
}

/**
 * Whether only the length of the last `mdat` is wrong: it points beyond the end of the file, but the file contains
 * every listed sample.
 */
async function isOnlyTooLong({ readAt, size }: MediaFile, { cut, movie, fragments }: Layout): Promise<boolean> {
  if (cut === null || !MEDIA_DATA.has(cut.box.type) || movie === null) return false;
  const tracks = await tracksOf(readAt, movie);
  if (tracks === 'unwritten') return false;
  const samples = fragments.last === null ? [] : await samplesOf(readAt, fragments.last.box, tracks);
  if (samples === 'unwritten' || (fragments.last !== null && samples.length === 0)) return false;
  const listed = [...tracks.filter(({ end }) => end > 0), ...samples];
  const areAllThere = listed.every(({ wholeEnd }) => wholeEnd !== null && wholeEnd <= size);
  return areAllThere && listed.some(({ end }) => end > cut.box.at) && (await sampleFlaw(readAt, size, listed)) === null;
}

/** Whether no track lists samples, as at the beginning of a fragmented recording. */
function hasNoSamples(tracks: readonly Samples[]): boolean {
  return tracks.length > 0 && tracks.every(({ end }) => end === 0);
}

/** Whether a fragment's media data comes before it, which is unusual, or is missing altogether. */
function isBefore(samples: readonly Samples[], { at }: Box): boolean {
  return samples.every(({ end }) => end > 0 && end <= at);
}

const UNWRITTEN_FRAGMENT = 'the last fragment of the container is only partly written yet';

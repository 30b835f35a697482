import { boxAt } from './boxes.ts';
import type { Box } from './boxes.ts';
import { lastFragmentAt } from './last-fragment.ts';
import type { MediaFile } from '../media-file.ts';
import { missingBytes } from '../verdict.ts';

const setOf = (types: string): ReadonlySet<string> => new Set(types.split(' '));

/** Types that may come first in a movie, including one by old QuickTime. */
export const FIRST_BOXES = setOf('ftyp moov mdat wide free skip pnot');
/** Types that may come first in a segment of a stream. */
export const SEGMENT_BOXES = setOf('styp moof sidx ssix prft emsg');
/** Types that may come first but do not prove that a movie follows. */
export const OTHER_BOXES = setOf('uuid meta pdin udta PICT');
/** Other top-level types. One of these that ends beyond the file is truncated. */
const LATER_BOXES = setOf('mfra imda meco !mov !mof !six !ssx');
export const MEDIA_DATA = setOf('mdat imda');

const isKnown = (type: string): boolean =>
  [FIRST_BOXES, SEGMENT_BOXES, OTHER_BOXES, LATER_BOXES].some((types) => types.has(type));

/** A file as a sequence of boxes. */
export interface Layout {
  /** The box that ends beyond the file, and by how much, in words. The walk stopped there. */
  readonly cut: { readonly box: Box; readonly why: string } | null;
  /** The first `moov`, because that is the one players use. */
  readonly movie: Box | null;
  readonly fragments: { readonly first: Fragment | null; readonly last: Fragment | null };
  /** An index of all segments, before the first fragment. */
  readonly index: Box | null;
  /** Whether the file is a still image (HEIF), which has `meta` in place of `moov`. */
  readonly isImage: boolean;
  /** Whether the end of the layout was not found. */
  readonly isLong: boolean;
  /** Where the last box ends, in bytes; `null`: at the end of the file. */
  readonly end: number | null;
}

export interface Fragment {
  readonly box: Box;
  /** Whether media data follow the fragment. */
  readonly hasData: boolean;
}

/**
 * Maximum number of reads for the layout of a movie with fragments, and for any other layout. Adjacent small boxes
 * share a read.
 */
const MOST_FRAGMENT_READS = 40;
const MOST_OTHER_READS = 400;
/** Maximum number of reads from the last fragment onwards. */
const MOST_LAST_READS = 16;

/**
 * Walks over the boxes. Long recordings have thousands of fragments, so after some of them the walk continues at the
 * last one, if it can be found.
 */
export async function layoutOf(file: MediaFile): Promise<Layout> {
  const { readAt, size } = file;
  const types = new Set<string>();
  let movie: Box | null = null;
  let index: Box | null = null;
  let [first, last]: [Fragment | null, Fragment | null] = [null, null];
  let mostReads: number | null = null;
  const layout = (rest: Partial<Layout>): Layout => {
    const isImage = types.has('meta');
    return { cut: null, isLong: false, end: null, movie, index, isImage, fragments: { first, last }, ...rest };
  };
  for (let position = 0; ;) {
    if (file.reads() > (mostReads ?? (first === null ? MOST_OTHER_READS : MOST_FRAGMENT_READS))) {
      const at = mostReads === null && first !== null ? await lastFragmentAt(file, index) : null;
      if (at === null || at < position) return layout({ isLong: true });
      position = at;
      mostReads = file.reads() + MOST_LAST_READS;
    }
    const box = await boxAt(readAt, position, size);
    const isWhole = types.has('moov') && types.has('mdat');
    if (typeof box === 'string') return layout({ end: box === 'zeros' || isWhole ? position : null });
    const why = missingBytes(box.end, size);
    // After everything a player needs, text may look like the header of a box.
    if (why !== null && isWhole && !isKnown(box.type)) return layout({ end: position });
    if (why !== null) return layout({ cut: { box, why } });
    types.add(box.type);
    if (box.type === 'moov') movie ??= box;
    if (box.type === 'sidx' && first === null) index ??= box;
    if (box.type === 'moof') last = { box, hasData: false };
    if (MEDIA_DATA.has(box.type) && last !== null) last = { ...last, hasData: true };
    first ??= last;
    position = Number(box.end);
  }
}

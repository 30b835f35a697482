import { boxAt } from './boxes.ts';
import type { Box } from './boxes.ts';
import { lastFragmentAt } from './last-fragment.ts';
import type { MediaFile } from '../media-file.ts';
import { missingBytes } from '../verdict.ts';

const setOf = (types: string): ReadonlySet<string> => new Set(types.split(' '));

/** The first box of a movie, also of one by old QuickTime. */
export const FIRST_BOXES = setOf('ftyp moov mdat wide free skip pnot');
/** The first box of a segment of a stream. */
export const SEGMENT_BOXES = setOf('styp moof sidx ssix prft emsg');
/** May come first, but are no proof that a movie follows. */
export const OTHER_BOXES = setOf('uuid meta pdin udta PICT');
/** Others of the top level: one of these that ends behind the file is cut off. */
const LATER_BOXES = setOf('mfra imda meco !mov !mof !six !ssx');
export const MEDIA_DATA = setOf('mdat imda');

const isKnown = (type: string): boolean =>
  [FIRST_BOXES, SEGMENT_BOXES, OTHER_BOXES, LATER_BOXES].some((types) => types.has(type));

/** The row of boxes that is a file. */
export interface Layout {
  /** The box that ends behind the file, and by how much in words. The walk ended there. */
  readonly cut: { readonly box: Box; readonly why: string } | null;
  /** Players take the first. */
  readonly movie: Box | null;
  readonly fragments: { readonly first: Fragment | null; readonly last: Fragment | null };
  /** An index of all segments, in front of the first fragment. */
  readonly index: Box | null;
  /** Still images (HEIF) have `meta` in the place of `moov`. */
  readonly isImage: boolean;
  /** Its end was not found. */
  readonly isLong: boolean;
  /** Where the last box ends, in bytes; `null`: with the file. */
  readonly end: number | null;
}

export interface Fragment {
  readonly box: Box;
  /** Whether media data follow it. */
  readonly hasData: boolean;
}

/** The layout of a movie, with or without fragments. Adjacent small boxes share a read. */
const MOST_FRAGMENT_READS = 40;
const MOST_OTHER_READS = 400;
/** From the last fragment on. */
const MOST_LAST_READS = 16;

/**
 * Walks over the boxes. Long recordings have thousands of fragments: after some of them, the walk continues at the last
 * one, if that can be found.
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
    // What looks like the header of a box may be text, behind everything that a player needs.
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

import { boxAt, boxesIn } from './boxes.ts';
import type { Box } from './boxes.ts';
import { missingBytes } from '../media-file.ts';
import type { MediaFile } from '../media-file.ts';

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

interface Fragment {
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

/**
 * Finds where the last fragment of a long recording begins, ISO/IEC 14496-12: from the table at the end of the file
 * (`mfra`, 8.8.9), from an index at the front (`sidx`, 8.16.3), or by searching for its first bytes in the last 8 MiB.
 *
 * @param index index before the first fragment
 * @returns offset in bytes; `null` if it was not found
 */
async function lastFragmentAt(file: MediaFile, index: Box | null): Promise<number | null> {
  for (const found of [() => byTable(file), () => byIndex(file, index), () => bySearch(file)]) {
    const at = await found();
    const box = at === null ? 'garbage' : await boxAt(file.readAt, at, file.size);
    if (typeof box !== 'string' && STARTS.has(box.type)) return at;
  }
  return null;
}

/** Types of boxes that begin a fragment, or a segment of several fragments. */
const STARTS = new Set(['moof', 'styp', 'sidx', 'emsg', 'prft']);

async function byTable({ readAt, size }: MediaFile): Promise<number | null> {
  const end = await readAt(size - 16, 16);
  if (end.toString('latin1', 4, 8) !== 'mfro') return null;
  const table = await boxAt(readAt, size - end.readUInt32BE(12), size);
  if (typeof table === 'string' || table.type !== 'mfra') return null;
  const offsets: number[] = [];
  for (const { type, contentAt } of (await boxesIn(readAt, table)).slice(0, MOST_TRACKS)) {
    const head = type === 'tfra' ? await readAt(contentAt, 16) : Buffer.alloc(0);
    if (head.length < 16) continue;
    const isLong = head[0] === 1;
    // Time and offset are followed by three numbers of one to four bytes each.
    const numbers = [4, 2, 0].reduce((sum, shift) => sum + 1 + ((head.readUInt32BE(8) >> shift) & 3), 0);
    const entryBytes = (isLong ? 16 : 8) + numbers;
    const entry = await readAt(contentAt + 16 + (head.readUInt32BE(12) - 1) * entryBytes, entryBytes);
    if (entry.length === entryBytes) offsets.push(isLong ? Number(entry.readBigUInt64BE(8)) : entry.readUInt32BE(4));
  }
  return offsets.length === 0 ? null : Math.max(...offsets);
}

const MOST_TRACKS = 16;

async function byIndex({ readAt }: MediaFile, index: Box | null): Promise<number | null> {
  return index === null ? null : ((await segmentsIn(readAt, index))?.lastAt ?? null);
}

interface Segments {
  /** Offsets of the beginning and end of the last segment, in bytes. */
  readonly lastAt: number;
  readonly end: number;
  readonly seconds: number;
}

/** Reads an index; `null` if it lists no segments. */
export async function segmentsIn(
  readAt: MediaFile['readAt'],
  { contentAt, end: indexEnd }: Box,
): Promise<Segments | null> {
  const head = await readAt(contentAt, 32);
  if (head.length < 32) return null;
  const isLong = head[0] === 1;
  const count = head.readUInt16BE(isLong ? 30 : 22);
  const entries = await readAt(contentAt + (isLong ? 32 : 24), count * 12);
  if (count === 0 || entries.length < count * 12) return null;
  let end = Number(indexEnd) + (isLong ? Number(head.readBigUInt64BE(20)) : head.readUInt32BE(16));
  let [lastAt, units] = [end, 0];
  for (let at = 0; at < entries.length; at += 12) {
    lastAt = end;
    end += entries.readUInt32BE(at) & 0x7fffffff;
    units += entries.readUInt32BE(at + 4);
  }
  return { lastAt, end, seconds: units / head.readUInt32BE(8) };
}

/** `moof` and the header of its first box, which are always the same. */
const START_OF_FRAGMENT = Buffer.from('6d6f6f66000000106d666864', 'hex');
const LENGTH_BYTES = 4;
const PIECE_BYTES = 1024 * 1024;
const MOST_PIECES = 8;

async function bySearch({ readAt, size }: MediaFile): Promise<number | null> {
  for (let piece = 1; piece <= MOST_PIECES && (piece - 1) * PIECE_BYTES < size; piece += 1) {
    const at = Math.max(0, size - piece * PIECE_BYTES);
    const found = (await readAt(at, PIECE_BYTES + START_OF_FRAGMENT.length)).lastIndexOf(START_OF_FRAGMENT);
    if (found !== -1) return at + found - LENGTH_BYTES;
  }
  return null;
}

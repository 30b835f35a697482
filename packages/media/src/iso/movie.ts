import { boxesIn, isUnwritten } from './boxes.ts';
import type { Box } from './boxes.ts';
import { missingBytes } from '../media-file.ts';
import type { ReadAt } from '../media-file.ts';

/** A track's last samples listed by the index itself, without those in fragments. */
export interface Track extends Samples {
  readonly id: number;
  /** Time units per second; 0: unknown. */
  readonly timescale: number;
}

/**
 * Returns the last samples of each track according to `moov`, ISO/IEC 14496-12, 8.3 to 8.8. Reads about 40 boxes per
 * track, and no table completely.
 *
 * @returns `unwritten` if part of the index is zeros. Tracks that cannot be parsed, or whose samples are in other
 *   files, are omitted.
 */
export async function tracksOf(readAt: ReadAt, movie: Box): Promise<readonly Track[] | 'unwritten'> {
  const boxes = await boxesIn(readAt, movie);
  if (boxes.some(isUnwritten)) return 'unwritten';
  const tracks: Track[] = [];
  for (const box of boxes.filter(({ type }) => type === 'trak').slice(0, MOST_TRACKS)) {
    const track = await trackOf(readAt, box);
    if (track === 'unwritten') return 'unwritten';
    if (track !== null) tracks.push(track);
  }
  return tracks;
}

const MOST_TRACKS = 16;
/** Maximum length of a table that is read completely. */
const MOST_TABLE_BYTES = 32 * 1024;

type Boxes = ReadonlyMap<string, Box>;

async function trackOf(readAt: ReadAt, track: Box): Promise<Track | 'unwritten' | null> {
  const boxes = new Map<string, Box>();
  let outer: Box | undefined = track;
  for (const next of ['mdia', 'minf', 'stbl', '']) {
    if (outer === undefined) return null;
    const inner = await boxesIn(readAt, outer);
    if (inner.some(isUnwritten)) return 'unwritten';
    for (const box of inner) boxes.set(box.type, box);
    outer = boxes.get(next);
  }
  if (await isElsewhere(readAt, boxes.get('dinf'))) return null;
  const id = await idOf(readAt, boxes.get('tkhd'));
  const codec = (await contentOf(readAt, boxes.get('stsd'), 16)).toString('latin1', 12, 16);
  const media = await contentOf(readAt, boxes.get('mdhd'), 24);
  const timescale = media.length < 24 ? 0 : media.readUInt32BE(media[0] === 1 ? 20 : 12);
  const samples = await lastSamples(readAt, boxes);
  return samples === 'unwritten' ? samples : { id, codec, timescale, ...samples };
}

/** Whether a track's samples are in another file, as in reference movies. */
async function isElsewhere(readAt: ReadAt, information: Box | undefined): Promise<boolean> {
  const dataReference = information && (await boxesIn(readAt, information)).find(({ type }) => type === 'dref');
  if (dataReference === undefined) return false;
  const entries = await boxesIn(readAt, { ...dataReference, contentAt: dataReference.contentAt + 8 });
  for (const entry of entries.slice(0, MOST_TRACKS))
    if (((await contentOf(readAt, entry, 4))[3] ?? 1) % 2 === 0) return true;
  return false;
}

async function idOf(readAt: ReadAt, header: Box | undefined): Promise<number> {
  const content = await contentOf(readAt, header, 24);
  return content.length < 24 ? 0 : content.readUInt32BE(content[0] === 1 ? 20 : 12);
}

async function lastSamples(readAt: ReadAt, boxes: Boxes): Promise<Omit<Samples, 'codec'> | 'unwritten'> {
  const chunks = await lastChunk(readAt, boxes);
  if (chunks === null) return { end: 0, wholeEnd: null, frame: null };
  // Offset 0 is the first box of the file, so it cannot be a chunk.
  if (chunks.lastAt === 0) return 'unwritten';
  const { sizes, each, count } = await sizesInLastChunk(readAt, boxes, chunks.count);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  const wholeBytes = count === 0 ? null : each > 1 ? count * each : sizes.length === count ? bytes : null;
  return {
    end: chunks.lastAt + Math.max(1, bytes),
    wholeEnd: wholeBytes === null ? null : chunks.lastAt + wholeBytes,
    frame: lastFrame(chunks.lastAt, sizes),
  };
}

async function lastChunk(
  readAt: ReadAt,
  boxes: Boxes,
): Promise<{ readonly lastAt: number; readonly count: number } | null> {
  const isLong = boxes.has('co64');
  const table = boxes.get('co64') ?? boxes.get('stco');
  const head = await contentOf(readAt, table, 8);
  const count = head.length < 8 ? 0 : head.readUInt32BE(4);
  const entryBytes = isLong ? 8 : 4;
  const entry = await contentOf(readAt, table, entryBytes, 8 + (count - 1) * entryBytes);
  if (count === 0 || entry.length < entryBytes) return null;
  return { lastAt: isLong ? Number(entry.readBigUInt64BE()) : entry.readUInt32BE(), count };
}

interface ChunkSizes {
  /**
   * Empty if all samples have the same size, which old files state in units of their own, or if the tables are too long
   * to read.
   */
  readonly sizes: readonly number[];
  /** The common sample size; 0 if sizes differ. */
  readonly each: number;
  /** Number of samples in the chunk; 0: unknown. */
  readonly count: number;
}

async function sizesInLastChunk(readAt: ReadAt, boxes: Boxes, chunks: number): Promise<ChunkSizes> {
  const table = boxes.get('stsz');
  const head = await contentOf(readAt, table, 12);
  if (head.length < 12) return { sizes: [], each: 0, count: 0 };
  const [each, samples] = [head.readUInt32BE(4), head.readUInt32BE(8)];
  const count = await samplesInLastChunk(readAt, boxes.get('stsc'), { chunks, samples });
  if (each !== 0) return { sizes: [], each, count };
  const sizes = await contentOf(readAt, table, 4 * count, 12 + 4 * (samples - count));
  return {
    sizes: Array.from({ length: sizes.length >> 2 }, (_, index) => sizes.readUInt32BE(4 * index)),
    each,
    count,
  };
}

/** @returns 0 if unknown */
async function samplesInLastChunk(
  readAt: ReadAt,
  table: Box | undefined,
  { chunks, samples }: { readonly chunks: number; readonly samples: number },
): Promise<number> {
  const head = await contentOf(readAt, table, 8);
  const count = head.length < 8 ? 0 : head.readUInt32BE(4);
  const runs = await contentOf(readAt, table, 12 * count, 8);
  let before = 0;
  let inLast = 0;
  for (let at = 0; at < runs.length; at += 12) {
    const first = runs.readUInt32BE(at);
    const next = at + 12 < runs.length ? runs.readUInt32BE(at + 12) : chunks;
    inLast = runs.readUInt32BE(at + 4);
    before += Math.max(0, next - first) * inLast;
  }
  // Some writers count as if the last chunk were full.
  return Math.max(0, Math.min(inLast, samples - before));
}

/** Reads part of a box's content. Empty if the content is shorter, or the length exceeds the limit for a table. */
async function contentOf(readAt: ReadAt, box: Box | undefined, length: number, from = 0): Promise<Buffer> {
  if (box === undefined || from < 0 || length > MOST_TABLE_BYTES) return NOTHING;
  const at = box.contentAt + from;
  if (length <= 0 || BigInt(at + length) > box.end) return NOTHING;
  const bytes = await readAt(at, length);
  return bytes.length < length ? NOTHING : bytes;
}

const NOTHING = Buffer.alloc(0);

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

interface Frame {
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

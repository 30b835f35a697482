import { boxesIn, isUnwritten } from './boxes.ts';
import type { Box } from './boxes.ts';
import { lastFrame } from './movie.ts';
import type { Samples, Track } from './movie.ts';
import type { ReadAt } from '../media-file.ts';

/**
 * Returns the samples that a `moof` lists, ISO/IEC 14496-12, 8.8. Only the last run of each track is read. A sample
 * size that the movie defines for the whole track is ignored.
 *
 * @param tracks tracks of the movie
 * @returns one entry per track with samples; `unwritten` if part of the box is zeros
 */
export async function samplesOf(
  readAt: ReadAt,
  fragment: Box,
  tracks: readonly Track[],
): Promise<readonly Samples[] | 'unwritten'> {
  const runs: Samples[] = [];
  const boxes = await boxesIn(readAt, fragment);
  if (boxes.some(isUnwritten)) return 'unwritten';
  for (const track of boxes.filter(({ type }) => type === 'traf').slice(0, MOST_TRACKS)) {
    const found = await samplesOfTrack(readAt, track, { fragment, tracks, isFirst: runs.length === 0 });
    if (found === 'unwritten') return found;
    if (found !== null) runs.push(found);
  }
  return runs;
}

const MOST_TRACKS = 16;
const MOST_RUNS = 16;
/** Maximum number of bytes read from the sample table of a run. Limits the work for hostile files. */
const MOST_RUN_BYTES = 16 * 1024;

async function samplesOfTrack(
  readAt: ReadAt,
  track: Box,
  {
    fragment,
    tracks,
    isFirst,
  }: { readonly fragment: Box; readonly tracks: readonly Track[]; readonly isFirst: boolean },
): Promise<Samples | 'unwritten' | null> {
  const boxes = await boxesIn(readAt, track);
  if (boxes.some(isUnwritten)) return 'unwritten';
  const header = await startOf(readAt, boxes, 'tfhd');
  const run = await startOf(readAt, boxes, 'trun');
  if (header.length < 8 || run.length < 8) return null;
  const hasBase = (flagsOf(header) & BASE_OFFSET) !== 0 && header.length >= 16;
  const isFromFragment = isFirst || (flagsOf(header) & BASE_IS_FRAGMENT) !== 0;
  // Otherwise the run continues where the previous track ended, which depends on sizes that may be unknown.
  const base = hasBase ? Number(header.readBigUInt64BE(8)) : isFromFragment ? fragment.at : -Infinity;
  const id = header.readUInt32BE(4);
  const sampleSize = inHeader(header, DEFAULT_SIZE);
  return samplesOfRun(run, { base, sampleSize, codec: tracks.find((one) => one.id === id)?.codec ?? '' });
}

/** Start and end time of a track's samples in a fragment, in the track's time units. */
export interface FragmentTime {
  readonly id: number;
  readonly start: number;
  /** `null`: unknown. */
  readonly end: number | null;
}

/** @param defaults sample duration by track, for fragments without one */
export async function timesOf(
  readAt: ReadAt,
  fragment: Box,
  defaults: ReadonlyMap<number, number>,
): Promise<readonly FragmentTime[]> {
  const times: FragmentTime[] = [];
  const tracks = (await boxesIn(readAt, fragment)).filter(({ type }) => type === 'traf').slice(0, MOST_TRACKS);
  for (const track of tracks) {
    const boxes = await boxesIn(readAt, track);
    const header = await startOf(readAt, boxes, 'tfhd');
    const decodeTime = await startOf(readAt, boxes, 'tfdt');
    if (header.length < 8 || decodeTime.length < (decodeTime[0] === 1 ? 12 : 8)) continue;
    const id = header.readUInt32BE(4);
    const start = decodeTime[0] === 1 ? Number(decodeTime.readBigUInt64BE(4)) : decodeTime.readUInt32BE(4);
    const each = inHeader(header, DEFAULT_DURATION) ?? defaults.get(id) ?? 0;
    let end: number | null = start;
    for (const run of boxes.filter(({ type }) => type === 'trun').slice(0, MOST_RUNS)) {
      const duration = durationOfRun(await startOf(readAt, [run], 'trun'), each);
      end = end === null || duration === null ? null : end + duration;
    }
    times.push({ id, start, end });
  }
  return times;
}

/** @param each duration of samples that have none of their own @returns `null` if unknown */
function durationOfRun(run: Buffer, each: number): number | null {
  if (run.length < 8) return null;
  const flags = flagsOf(run);
  const count = run.readUInt32BE(4);
  if ((flags & DURATION) === 0) return each === 0 ? null : count * each;
  const entryBytes = entryBytesOf(flags);
  const entries = entriesOf(run, flags);
  if (entries.length < count * entryBytes) return null;
  let sum = 0;
  for (let index = 0; index < count; index += 1) sum += entries.readUInt32BE(index * entryBytes);
  return sum;
}

/**
 * Reads a track's default value for all of its samples. @returns `null` if each sample has its own value, or the movie
 * states it
 */
function inHeader(header: Buffer, wanted: number): number | null {
  const flags = flagsOf(header);
  if ((flags & wanted) === 0) return null;
  let at = 8;
  for (const [flag, bytes] of HEADER_FIELDS) {
    if (flag === wanted) break;
    if ((flags & flag) !== 0) at += bytes;
  }
  return header.length < at + 4 ? null : header.readUInt32BE(at);
}

/** Reads the last box of a type, at most its first 16 KiB. */
async function startOf(readAt: ReadAt, boxes: readonly Box[], wanted: string): Promise<Buffer> {
  const box = boxes.findLast(({ type }) => type === wanted);
  return box === undefined ? NOTHING : readAt(box.contentAt, Math.min(Number(box.end) - box.contentAt, MOST_RUN_BYTES));
}

function flagsOf(content: Buffer): number {
  return content.readUInt32BE() & 0xffffff;
}

const NOTHING = Buffer.alloc(0);
const BASE_OFFSET = 1;
const BASE_IS_FRAGMENT = 0x20000;
const DEFAULT_DURATION = 0x8;
const DEFAULT_SIZE = 0x10;
/**
 * Optional fields and their lengths, in this order, present if their flags are set. The second is the number of a
 * sample description.
 */
const HEADER_FIELDS = [
  [BASE_OFFSET, 8],
  [0x2, 4],
  [DEFAULT_DURATION, 4],
  [DEFAULT_SIZE, 4],
] as const;
const DATA_OFFSET = 1;
const FIRST_FLAGS = 4;
const DURATION = 0x100;
const SIZE = 0x200;
/** Optional fields of each sample, four bytes each; besides duration and size, flags and a composition offset. */
const FIELDS = [DURATION, SIZE, 0x400, 0x800];

/** @returns `null` if the run has no samples */
function samplesOfRun(
  run: Buffer,
  { base, sampleSize, codec }: { readonly base: number; readonly sampleSize: number | null; readonly codec: string },
): Samples | null {
  const flags = flagsOf(run);
  const count = run.readUInt32BE(4);
  if (count === 0) return null;
  // Without an offset, the run continues where the previous one ended.
  const at = (flags & DATA_OFFSET) === 0 || run.length < 12 ? -1 : base + run.readInt32BE(8);
  if (at < 0) return { end: 0, wholeEnd: null, frame: null, codec };
  const sizes = sizesIn(entriesOf(run, flags), { flags, count, sampleSize });
  const end = at + sizes.reduce((sum, size) => sum + size, 0);
  return { end, wholeEnd: sizes.length === count ? end : null, frame: lastFrame(at, sizes), codec };
}

function entriesOf(run: Buffer, flags: number): Buffer {
  return run.subarray(8 + ((flags & DATA_OFFSET) === 0 ? 0 : 4) + ((flags & FIRST_FLAGS) === 0 ? 0 : 4));
}

function entryBytesOf(flags: number): number {
  return FIELDS.filter((field) => (flags & field) !== 0).length * 4;
}

function sizesIn(
  entries: Buffer,
  { flags, count, sampleSize }: { readonly flags: number; readonly count: number; readonly sampleSize: number | null },
): number[] {
  if ((flags & SIZE) === 0)
    return sampleSize === null ? [] : Array.from({ length: Math.min(count, MOST_EQUAL) }, () => sampleSize);
  const entryBytes = entryBytesOf(flags);
  const sizeAt = (flags & DURATION) === 0 ? 0 : 4;
  const length = Math.min(count, Math.floor(entries.length / entryBytes));
  return Array.from({ length }, (_, index) => entries.readUInt32BE(index * entryBytes + sizeAt));
}

/** Maximum number of samples considered if all have the same size. */
const MOST_EQUAL = 4096;

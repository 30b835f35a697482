import { boxesIn, UNWRITTEN } from './iso-boxes.ts';
import type { Box } from './iso-boxes.ts';
import { lastFrame } from './iso-samples.ts';
import type { Samples } from './iso-samples.ts';
import type { Track } from './iso-index.ts';
import type { ReadAt } from './read-at.ts';

/**
 * What a `moof` says about its samples, ISO/IEC 14496-12, 8.8. Of each track the last run is read. A size that
 * the movie has for all samples is not looked up.
 *
 * @param tracks of the movie
 * @returns one for each track that has samples in it; `unwritten` if zeros stand in the place of a part of it
 */
export async function samplesOf(
  readAt: ReadAt,
  fragment: Box,
  tracks: readonly Track[],
): Promise<readonly Samples[] | 'unwritten'> {
  const runs: Samples[] = [];
  const boxes = await boxesIn(readAt, fragment);
  if (boxes.some(({ type }) => type === UNWRITTEN)) return 'unwritten';
  for (const track of boxes.filter(({ type }) => type === 'traf').slice(0, MOST_TRACKS)) {
    const found = await samplesOfTrack(readAt, track, { fragment, tracks, isFirst: runs.length === 0 });
    if (found === 'unwritten') return found;
    if (found !== null) runs.push(found);
  }
  return runs;
}

const MOST_TRACKS = 16;
/** Of a run that is read. Bounds the work for hostile files. */
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
  if (boxes.some(({ type }) => type === UNWRITTEN)) return 'unwritten';
  const header = await startOf(
    readAt,
    boxes.find(({ type }) => type === 'tfhd'),
  );
  const run = await startOf(
    readAt,
    boxes.findLast(({ type }) => type === 'trun'),
  );
  if (header.length < 8 || run.length < 8) return null;
  const hasBase = (flagsOf(header) & BASE_OFFSET) !== 0 && header.length >= 16;
  const isFromFragment = isFirst || (flagsOf(header) & BASE_IS_FRAGMENT) !== 0;
  // Otherwise it goes on where the track before it ended, by sizes that may not be known.
  const base = hasBase ? Number(header.readBigUInt64BE(8)) : isFromFragment ? fragment.at : -Infinity;
  const id = header.readUInt32BE(4);
  const sampleSize = sizeInHeader(header);
  return samplesOfRun(run, { base, sampleSize, codec: tracks.find((one) => one.id === id)?.codec ?? '' });
}

/** @returns in bytes, of all samples; `null`: each has its own, or the movie says */
function sizeInHeader(header: Buffer): number | null {
  const flags = flagsOf(header);
  const before = [[BASE_OFFSET, 8] as const, [0x2, 4] as const, [0x8, 4] as const];
  const at = before.reduce((sum, [flag, bytes]) => ((flags & flag) === 0 ? sum : sum + bytes), 8);
  return (flags & DEFAULT_SIZE) === 0 || header.length < at + 4 ? null : header.readUInt32BE(at);
}

async function startOf(readAt: ReadAt, box: Box | undefined): Promise<Buffer> {
  if (box === undefined) return NOTHING;
  return readAt(box.contentAt, Math.min(Number(box.end) - box.contentAt, MOST_RUN_BYTES));
}

function flagsOf(content: Buffer): number {
  return content.readUInt32BE() & 0xffffff;
}

const NOTHING = Buffer.alloc(0);
const BASE_OFFSET = 1;
const BASE_IS_FRAGMENT = 0x20000;
const DEFAULT_SIZE = 0x10;
const DATA_OFFSET = 1;
const FIRST_FLAGS = 4;
const DURATION = 0x100;
const SIZE = 0x200;
/** What there may be of each sample, four bytes each: also flags and a composition offset. */
const FIELDS = [DURATION, SIZE, 0x400, 0x800];

/** @returns `null`: it has no samples */
function samplesOfRun(
  run: Buffer,
  { base, sampleSize, codec }: { readonly base: number; readonly sampleSize: number | null; readonly codec: string },
): Samples | null {
  const flags = flagsOf(run);
  const count = run.readUInt32BE(4);
  if (count === 0) return null;
  // Without an offset, the run goes on where the one before it ended.
  const at = (flags & DATA_OFFSET) === 0 || run.length < 12 ? -1 : base + run.readInt32BE(8);
  if (at < 0) return { end: 0, frame: null, codec };
  const sizes = sizesIn(run.subarray((flags & FIRST_FLAGS) === 0 ? 12 : 16), { flags, count, sampleSize });
  return { end: at + sizes.reduce((sum, size) => sum + size, 0), frame: lastFrame(at, sizes), codec };
}

function sizesIn(
  entries: Buffer,
  { flags, count, sampleSize }: { readonly flags: number; readonly count: number; readonly sampleSize: number | null },
): number[] {
  if ((flags & SIZE) === 0)
    return sampleSize === null ? [] : Array.from({ length: Math.min(count, MOST_EQUAL) }, () => sampleSize);
  const entryBytes = FIELDS.filter((field) => (flags & field) !== 0).length * 4;
  const sizeAt = (flags & DURATION) === 0 ? 0 : 4;
  const length = Math.min(count, Math.floor(entries.length / entryBytes));
  return Array.from({ length }, (_, index) => entries.readUInt32BE(index * entryBytes + sizeAt));
}

/** Of samples of one size, so many are looked at. */
const MOST_EQUAL = 4096;

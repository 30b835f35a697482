import { boxAt, boxesIn } from './boxes.ts';
import type { Box } from './boxes.ts';
import type { MediaFile } from '../media-file.ts';

/**
 * Finds where the last fragment of a long recording begins, ISO/IEC 14496-12: from the table at the end of the file
 * (`mfra`, 8.8.9), from an index at the front (`sidx`, 8.16.3), or by searching for its first bytes in the last 8 MiB.
 *
 * @param index index before the first fragment
 * @returns offset in bytes; `null` if it was not found
 */
export async function lastFragmentAt(file: MediaFile, index: Box | null): Promise<number | null> {
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

export interface Segments {
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

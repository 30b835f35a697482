import type { ReadAt } from '../media-file.ts';

/** A box, ISO/IEC 14496-12, 4.2. */
export interface Box {
  readonly type: string;
  /** Offsets of the header, of the content and of the stated end, in bytes from the beginning of the file. */
  readonly at: number;
  readonly contentAt: number;
  readonly end: bigint;
}

/**
 * What was found instead of a box. `zeros`: preallocated space that has not been written yet, or padding. `cut`: the
 * header is incomplete. `garbage`: not a box, so the structure is unknown from here.
 */
type NoBox = 'zeros' | 'cut' | 'garbage';

/** @param outerEnd end of the enclosing box or of the file */
export async function boxAt(readAt: ReadAt, at: number, outerEnd: number): Promise<Box | NoBox> {
  if (outerEnd - at < 8) return 'cut';
  const header = await readAt(at, Math.min(LONGEST_HEADER, outerEnd - at));
  if (header.length < 8) return 'cut';
  const type = header.toString('latin1', 4, 8);
  const length32 = header.readUInt32BE(0);
  // Printable ASCII, possibly preceded by QuickTime's © (0xA9). A copy in progress may have reached the middle of a
  // header.
  if (!/^[\x20-\x7e\xa9][\x20-\x7e]{3}$/u.test(type)) return type.endsWith('\0') ? 'zeros' : 'garbage';
  if (length32 === 0) return { type, at, contentAt: at + 8, end: BigInt(outerEnd) };
  if (length32 !== 1) return length32 < 8 ? 'garbage' : box(type, at, { header: 8, length: BigInt(length32) });
  if (header.length < LONGEST_HEADER) return 'cut';
  const length = header.readBigUInt64BE(8);
  return length < 16n ? 'garbage' : box(type, at, { header: 16, length });
}

/** Whether a box from `boxesIn` is space that has not been written yet. */
export function isUnwritten({ type }: Box): boolean {
  return type === UNWRITTEN;
}

const UNWRITTEN = '\0\0\0\0';

/**
 * Returns the boxes inside a box, up to invalid data or a box that does not fit. If zeros fill the rest of the outer
 * box, the last one returned is unwritten.
 */
export async function boxesIn(readAt: ReadAt, outer: Box): Promise<readonly Box[]> {
  const boxes: Box[] = [];
  const outerEnd = Number(outer.end);
  for (let at = outer.contentAt; boxes.length < MOST_INNER_BOXES; at = Number(boxes.at(-1)?.end)) {
    const inner = await boxAt(readAt, at, outerEnd);
    if (inner === 'zeros' && (await endsInZeros(readAt, outer)))
      boxes.push({ type: UNWRITTEN, at, contentAt: at, end: outer.end });
    if (typeof inner === 'string' || inner.end > outer.end) return boxes;
    boxes.push(inner);
  }
  return boxes;
}

const LONGEST_HEADER = 16;
/** Maximum number of inner boxes, which limits the work for hostile files. */
const MOST_INNER_BOXES = 64;

async function endsInZeros(readAt: ReadAt, { contentAt, end }: Box): Promise<boolean> {
  const length = Math.min(16, Number(end) - contentAt);
  return (await readAt(Number(end) - length, length)).every((byte) => byte === 0);
}

function box(type: string, at: number, { header, length }: { readonly header: number; readonly length: bigint }): Box {
  return { type, at, contentAt: at + header, end: BigInt(at) + length };
}

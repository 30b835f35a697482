import { missingBytes } from './missing-bytes.ts';
import type { ReadAt } from './read-at.ts';

/**
 * MP4 and QuickTime. ISO/IEC 14496-12, 4.2: a row of boxes, each with a 32-bit length and a type; length 1 means that a 64-bit length follows, length 0
 * that the box ends with the file. Complete = every box ends inside the file and one of them is `moov`. Behind a whole `moov` and a whole
 * `mdat` some tools leave bytes that are no box (half a tag, the trailer of a camera); players skip them.
 *
 * @param start the first bytes of the file
 */
export async function isoMediaFlaw(readAt: ReadAt, size: number, start: Buffer): Promise<string | null> {
  if (!FIRST_BOXES.has(start.toString('latin1', 4, 8))) return null;
  const types = new Set<string>();
  let position = 0n;
  for (let step = 0; step < MOST_BOXES; step += 1) {
    if (position + 8n > BigInt(size)) return missingIndex(types);
    const box = readBox(await readAt(Number(position), 16));
    if (box === 'zeros') return missingIndex(types);
    if (box === 'garbage') return null;
    types.add(box.type);
    if (box.length === 0n) return missingIndex(types);
    position += box.length;
    const missing = missingBytes(position, size);
    if (missing !== null) return isStray(box.type, types) ? null : missing;
  }
  return null;
}

/** Old QuickTime files have no `ftyp`. Segments of a stream (`styp`, `moof` first) have no `moov` by design: not in the list. */
const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);
/** A day of fragmented recording has more; the length of its tail is then not checked. Bounds the work for hostile files. */
const MOST_BOXES = 4096;

/** The boxes of a file's top level: one of these that ends behind the file is cut off. */
const LATER_BOXES = 'moof mfra styp sidx ssix prft emsg imda pdin meta meco udta uuid PICT';
const TOP_BOXES = new Set([...FIRST_BOXES, ...LATER_BOXES.split(' ')]);

/** Whether what looks like the header of a box is text or the like, behind everything that a player needs. */
function isStray(type: string, types: ReadonlySet<string>): boolean {
  return types.has('moov') && types.has('mdat') && !TOP_BOXES.has(type);
}

interface Box {
  readonly type: string;
  /** Bytes with the header; 0 = up to the end of the file. */
  readonly length: bigint;
}

/** `zeros`: preallocated space that nobody has written yet, or padding. `garbage`: not a box, so the walk knows nothing. */
function readBox(header: Buffer): Box | 'zeros' | 'garbage' {
  if (header.length < 8) return 'garbage';
  const type = header.toString('latin1', 4, 8);
  const length32 = header.readUInt32BE(0);
  if (length32 === 0 && type === '\0\0\0\0') return 'zeros';
  // Printable ASCII, or QuickTime's © (0xA9) in front.
  if (!/^[\x20-\x7e\xa9][\x20-\x7e]{3}$/u.test(type)) return 'garbage';
  if (length32 === 0) return { type, length: 0n };
  if (length32 !== 1) return length32 < 8 ? 'garbage' : { type, length: BigInt(length32) };
  const length64 = header.length < 16 ? 0n : header.readBigUInt64BE(8);
  return length64 < 16n ? 'garbage' : { type, length: length64 };
}

/** Still images (HEIF) have `meta` in the place of `moov`. */
function missingIndex(types: ReadonlySet<string>): string | null {
  return types.has('moov') || types.has('meta') ? null : 'the container has no index (moov) yet';
}

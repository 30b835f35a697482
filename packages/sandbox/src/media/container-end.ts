import { chunksEnd, isOfChunks } from './chunks-end.ts';
import { packetsEnd } from './packets-end.ts';
import type { ReadAt } from './read-at.ts';

/**
 * Where a file ends for players: before stray bytes that some tools leave behind a whole container, such as zeros, half a tag, or the
 * trailer of a camera. MediaInfo would take those for the beginning of a box, chunk or packet, and miss the rest of it.
 * @param size of the file, in bytes
 * @returns in bytes; `size` for other formats, and where the container says itself that bytes are missing
 */
export function containerEnd(readAt: ReadAt, size: number): number {
  const start = Buffer.from(readAt(0, 8));
  if (FIRST_BOXES.has(start.toString('latin1', 4))) return boxesEnd(readAt, size);
  if (isOfChunks(start)) return chunksEnd(readAt, size);
  return start.length === 8 && start.readUInt32BE() === EBML_HEADER
    ? segmentEnd(readAt, size)
    : packetsEnd(readAt, size);
}

const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);

/** ISO/IEC 14496-12 section 4.2. */
function boxesEnd(readAt: ReadAt, size: number): number {
  const whole = new Set<string>();
  let position = 0;
  for (let boxes = 0; boxes < MAX_BOXES && position < size; boxes += 1) {
    const box = boxAt(readAt, position);
    const end = position + box.length;
    if (end > size) return isStray(box, whole) ? position : size;
    whole.add(box.type);
    position = end;
  }
  return size;
}

/** Zeros are padding wherever they are. Anything else is stray only behind a whole `moov` and a whole `mdat`: before, it may be damage. */
function isStray({ type }: Box, whole: ReadonlySet<string>): boolean {
  return type === ZEROS || (whole.has('moov') && whole.has('mdat') && !TOP_BOXES.has(type));
}

/** More than a day of fragmented recording has. Bounds the work for hostile files. */
const MAX_BOXES = 4096;

/** The boxes of a file's top level: one of these that ends behind the file is cut off. */
const LATER_BOXES = 'moof mfra styp sidx ssix prft emsg imda pdin meta meco udta uuid PICT';
const TOP_BOXES = new Set([...FIRST_BOXES, ...LATER_BOXES.split(' ')]);

interface Box {
  /** '' where no box begins. */
  readonly type: string;
  /** In bytes, above 0; Infinity if it ends with the file or later. */
  readonly length: number;
}

const ZEROS = '\0\0\0\0';
const NO_BOX: Box = { type: '', length: Infinity };

function boxAt(readAt: ReadAt, position: number): Box {
  const header = Buffer.from(readAt(position, 16));
  if (header.length < 8) return NO_BOX;
  const type = header.toString('latin1', 4, 8);
  const short = header.readUInt32BE();
  if (type === ZEROS && short === 0) return { type, length: Infinity };
  if (!/^[\x20-\x7e\xa9][\x20-\x7e]{3}$/.test(type)) return NO_BOX;
  // It ends with the file, or in the middle of its header.
  if (short === 0 || (short === 1 && header.length < 16)) return { type, length: Infinity };
  const length = short === 1 ? Number(header.readBigUInt64BE(8)) : short;
  return length < (short === 1 ? 16 : 8) ? NO_BOX : { type, length };
}

const EBML_HEADER = 0x1a_45_df_a3;
const SEGMENT = 0x18_53_80_67;

/** RFC 8794 and RFC 9559: an EBML header, then a segment of known size, or of an unknown one, which ends with the file. */
function segmentEnd(readAt: ReadAt, size: number): number {
  let position = 0;
  for (let elements = 0; elements < MAX_ELEMENTS; elements += 1) {
    const element = elementAt(readAt, position);
    if (element === undefined || element.end > size) return size;
    position = element.end;
    if (element.id === SEGMENT) return position;
  }
  return size;
}

/** Before the segment there are a header and perhaps an element without content. */
const MAX_ELEMENTS = 16;

/** @returns undefined where no element of known size begins */
function elementAt(readAt: ReadAt, position: number): { readonly id: number; readonly end: number } | undefined {
  const bytes = Buffer.from(readAt(position, 12));
  const idBytes = lengthOf(bytes[0]);
  const sizeBytes = lengthOf(bytes[idBytes]);
  if (idBytes > 4 || sizeBytes > 8 || bytes.length < idBytes + sizeBytes) return undefined;
  const digits = bytes.subarray(idBytes, idBytes + sizeBytes);
  const marker = 2 ** (8 - sizeBytes);
  const value = digits.reduce((total, byte, index) => total * 256 + (index === 0 ? byte - marker : byte), 0);
  const isUnknown = digits.every((byte, index) => byte === (index === 0 ? 2 * marker - 1 : 255));
  return isUnknown ? undefined : { id: bytes.readUIntBE(0, idBytes), end: position + idBytes + sizeBytes + value };
}

/** By the zero bits in front: 1 to 8; 9 for a byte that starts nothing. */
function lengthOf(first: number | undefined): number {
  return first === undefined || first === 0 ? 9 : Math.clz32(first) - 23;
}

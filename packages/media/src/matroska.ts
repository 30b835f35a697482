import { endsAt, flawed, missingBytes, sound } from './media-file.ts';
import type { MediaFile, ReadAt, Verdict } from './media-file.ts';

export function isMatroska({ start }: MediaFile): boolean {
  return start.length >= 4 && start.readUInt32BE(0) === ids.header;
}

/**
 * Matroska and WebM, RFC 8794 and RFC 9559: an EBML header, then a Segment whose size is known once the writer has
 * finished. A live recording leaves the size unknown forever, which is legal.
 */
export async function matroskaEnd({ readAt, size }: MediaFile): Promise<Verdict> {
  let position = 0;
  for (let step = 0; step < MOST_ELEMENTS; step += 1) {
    const element = await elementAt(readAt, position);
    if (element === null)
      return size - position < LONGEST_HEADER
        ? flawed('missing', 'the container ends before its first segment')
        : sound();
    if (element.end === Infinity) return sound();
    if (element.id === ids.segment) return endsAt(element.end, size);
    const missing = missingBytes(element.end, size);
    if (missing !== null) return flawed('missing', missing);
    if (!BEFORE_SEGMENT.has(element.id)) return sound();
    position = element.end;
  }
  return sound();
}

/**
 * Returns `Duration`, converted from units of `TimestampScale` nanoseconds; both are in the segment's `Info` (RFC 9559,
 * 5.1.2).
 */
export async function matroskaDuration({ readAt, size }: MediaFile): Promise<number | null> {
  const segment = await find(ids.segment, readAt, { contentAt: 0, end: size });
  const info = segment && (await find(ids.info, readAt, segment));
  const duration = info && (await find(ids.duration, readAt, info));
  if (info === null || duration === null) return null;
  const value = floatIn(await readAt(duration.contentAt, Math.min(duration.end - duration.contentAt, 8)));
  const scale = await find(ids.scale, readAt, info);
  const nanoseconds =
    scale === null ? 1_000_000 : uintIn(await readAt(scale.contentAt, Math.min(scale.end - scale.contentAt, 8)));
  return value === null ? null : (value * nanoseconds) / 1e9;
}

const ids = {
  header: 0x1a45dfa3,
  segment: 0x18538067,
  info: 0x1549a966,
  duration: 0x4489,
  scale: 0x2ad7b1,
  void: 0xec,
  crc32: 0xbf,
};
const BEFORE_SEGMENT = new Set([ids.header, ids.void, ids.crc32]);
const MOST_ELEMENTS = 64;
/** Maximum length of a header in bytes: an id of up to 4 and a size of up to 8. */
const LONGEST_HEADER = 12;

interface Element {
  readonly id: number;
  readonly contentAt: number;
  /** End as stated by the element; `Infinity` if its size is unknown. */
  readonly end: number;
}

async function find(id: number, readAt: ReadAt, outer: Pick<Element, 'contentAt' | 'end'>): Promise<Element | null> {
  let at = outer.contentAt;
  for (let count = 0; count < MOST_ELEMENTS && at < outer.end; count += 1) {
    const element = await elementAt(readAt, at);
    if (element === null || element.id === id) return element;
    at = element.end;
  }
  return null;
}

/**
 * Reads an element header. The id takes 1 to 4 bytes and the size 1 to 8: one more than the number of leading zero bits
 * in their first byte. `null`: no element starts here.
 */
async function elementAt(readAt: ReadAt, at: number): Promise<Element | null> {
  const bytes = await readAt(at, LONGEST_HEADER);
  const idBytes = Math.clz32(bytes[0] ?? 0) - 23;
  const sizeBytes = Math.clz32(bytes[idBytes] ?? 0) - 23;
  if (idBytes > 4 || sizeBytes > 8 || bytes.length < idBytes + sizeBytes) return null;
  const digits = bytes.subarray(idBytes, idBytes + sizeBytes);
  const mask = 2 ** (8 - sizeBytes) - 1;
  const isUnknown = digits.every((byte, index) => (index === 0 ? (byte & mask) === mask : byte === 0xff));
  const size = digits.reduce((value, byte, index) => value * 256 + (index === 0 ? byte & mask : byte), 0);
  const contentAt = at + idBytes + sizeBytes;
  return { id: bytes.readUIntBE(0, idBytes), contentAt, end: isUnknown ? Infinity : contentAt + size };
}

function floatIn(bytes: Buffer): number | null {
  const value = bytes.length === 4 ? bytes.readFloatBE(0) : bytes.length === 8 ? bytes.readDoubleBE(0) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

function uintIn(bytes: Buffer): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

import { missingBytes } from './missing-bytes.ts';
import type { ReadAt } from './read-at.ts';

/**
 * Matroska and WebM. RFC 8794, RFC 9559: an EBML header, then a Segment whose size is known once the writer has finished. A live recording leaves the
 * size unknown for ever, which is legal.
 *
 * @param start the first bytes of the file
 */
export async function matroskaFlaw(readAt: ReadAt, size: number, start: Buffer): Promise<string | null> {
  if (start.length < 4 || start.readUInt32BE(0) !== EBML_HEADER) return null;
  let position = 0n;
  for (let step = 0; step < MOST_ELEMENTS; step += 1) {
    const element = readElement(await readAt(Number(position), Number(LONGEST_HEADER)));
    if (element === null) return BigInt(size) - position < LONGEST_HEADER ? NO_SEGMENT : null;
    if (element.size === 'unknown') return null;
    position += element.size + BigInt(element.headerLength);
    const missing = missingBytes(position, size);
    if (missing !== null || element.id === SEGMENT) return missing;
    if (!BEFORE_SEGMENT.has(element.id)) return null;
  }
  return null;
}

const EBML_HEADER = 0x1a45dfa3;
const SEGMENT = 0x18538067;
const VOID = 0xec;
const CRC32 = 0xbf;
const BEFORE_SEGMENT = new Set([EBML_HEADER, VOID, CRC32]);
const MOST_ELEMENTS = 64;
/** Bytes: an id of up to 4, a size of up to 8. */
const LONGEST_HEADER = 12n;
const NO_SEGMENT = 'the container ends before its first segment';

interface Element {
  readonly id: number;
  readonly headerLength: number;
  /** Bytes after the header. */
  readonly size: bigint | 'unknown';
}

/** `null`: no element starts here. */
function readElement(bytes: Buffer): Element | null {
  const idLength = variableLength(bytes[0]);
  if (idLength > 4 || bytes.length <= idLength) return null;
  const sizeLength = variableLength(bytes[idLength]);
  if (sizeLength > 8 || bytes.length < idLength + sizeLength) return null;
  const id = bytes.readUIntBE(0, idLength);
  const raw = bytes.subarray(idLength, idLength + sizeLength).reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  const mask = (1n << BigInt(7 * sizeLength)) - 1n;
  const size = raw & mask;
  return { id, headerLength: idLength + sizeLength, size: size === mask ? 'unknown' : size };
}

/** The leading zero bits of the first byte give the length, 1–8; 9 for a byte that starts nothing. */
function variableLength(first: number | undefined): number {
  return first === undefined || first === 0 ? 9 : Math.clz32(first) - 23;
}

/** Reads up to `length` bytes at `position`; fewer only at the end of the file. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>;

/**
 * Whether a media container says itself that bytes are missing: MP4/MOV and Matroska/WebM, by their own lengths. Reads a few bytes
 * per top-level box and never goes deeper. Any other content is not ours to judge (design, section 6).
 *
 * @param size of the file in bytes
 * @returns the flaw in words, or `null`
 * @throws what `readAt` throws
 */
export async function containerFlaw(readAt: ReadAt, size: number): Promise<string | null> {
  const start = await readAt(0, 16);
  return (await isoMediaFlaw(readAt, size, start)) ?? (await matroskaFlaw(readAt, size, start));
}

/** `null` when `end` lies inside the file. Both in bytes. */
function missingBytes(end: bigint, size: number): string | null {
  const missing = end - BigInt(size);
  if (missing <= 0n) return null;
  return `the container says ${missing.toLocaleString('en-US')} ${missing === 1n ? 'byte is' : 'bytes are'} missing`;
}

// ---- MP4 and QuickTime

/**
 * ISO/IEC 14496-12, 4.2: a row of boxes, each with a 32-bit length and a type; length 1 means that a 64-bit length follows, length 0
 * that the box ends with the file. Complete = every box ends inside the file and one of them is `moov`.
 *
 * @param start the first bytes of the file
 */
async function isoMediaFlaw(readAt: ReadAt, size: number, start: Buffer): Promise<string | null> {
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
    if (missing !== null) return missing;
  }
  return null;
}

/** Old QuickTime files have no `ftyp`. Segments of a stream (`styp`, `moof` first) have no `moov` by design: not in the list. */
const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);
/** A day of fragmented recording has more; the length of its tail is then not checked. Bounds the work for hostile files. */
const MOST_BOXES = 4096;

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

// ---- Matroska and WebM

/**
 * RFC 8794, RFC 9559: an EBML header, then a Segment whose size is known once the writer has finished. A live recording leaves the
 * size unknown for ever, which is legal.
 *
 * @param start the first bytes of the file
 */
async function matroskaFlaw(readAt: ReadAt, size: number, start: Buffer): Promise<string | null> {
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

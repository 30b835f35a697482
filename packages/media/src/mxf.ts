import { flawed, missingBytes, sound } from './media-file.ts';
import type { MediaFile, ReadAt, Verdict } from './media-file.ts';

export function isMxf({ start }: MediaFile): boolean {
  return isPartition(start, HEADER);
}

/**
 * MXF, SMPTE ST 377-1: a sequence of keys, lengths and values, in partitions. Once the writer has closed the file, the
 * first partition states where the footer partition begins. A writer that cannot seek back leaves that field empty and
 * ends with the footer and an index of all partitions. A file is complete if there is a footer and everything from its
 * beginning onwards ends inside the file.
 */
export async function mxfEnd({ readAt, size, start }: MediaFile): Promise<Verdict> {
  const why = await mxfFlaw(readAt, size, start);
  return why === null ? sound() : flawed('missing', why);
}

async function mxfFlaw(readAt: ReadAt, size: number, start: Buffer): Promise<string | null> {
  const pack = readPiece(start);
  if (pack === null) return missingBytes(BigInt(START_OF_VALUE), size);
  const missing = missingBytes(pack.end, size);
  if (missing !== null) return missing;
  if (start.length < pack.valueAt + FOOTER_PARTITION + 8) return null;
  const footer = start.readBigUInt64BE(pack.valueAt + FOOTER_PARTITION);
  if (footer !== 0n) return flawFrom(readAt, footer, size);
  return (await hasFooterNearEnd(readAt, size)) ? null : 'the container has no end (footer partition) yet';
}

/** Common prefix of the keys of all kinds of partitions. */
const PARTITION_KEY = Buffer.from('060e2b34020501010d01020101', 'hex');
const INDEX_KEY = Buffer.from('060e2b34020501010d01020101110100', 'hex');
const ANY_KEY = Buffer.from('060e2b34', 'hex');
const HEADER = 0x02;
const FOOTER = 0x04;
const KEY_BYTES = 16;
/** Length of a key and a length field of up to nine bytes. */
const START_OF_VALUE = KEY_BYTES + 9;
/** Offset of the field in the value of a partition pack. */
const FOOTER_PARTITION = 24;
/** Maximum number of pieces in a footer: metadata, index tables and the index of partitions. */
const MOST_PIECES = 4096;
/** Size of the tail that is searched for a footer without a pointer to it. */
const MOST_TAIL_BYTES = 1024 * 1024;

function isPartition(bytes: Buffer, kind: number): boolean {
  return bytes.subarray(0, PARTITION_KEY.length).equals(PARTITION_KEY) && bytes[PARTITION_KEY.length] === kind;
}

/** Checks everything from the footer onwards. Data other than MXF may follow it. */
async function flawFrom(readAt: ReadAt, footer: bigint, size: number): Promise<string | null> {
  let position = footer;
  const missing = missingBytes(footer + BigInt(START_OF_VALUE), size);
  if (missing !== null) return missing;
  for (let step = 0; step < MOST_PIECES; step += 1) {
    const bytes = await readAt(Number(position), START_OF_VALUE);
    if (step === 0 && !isPartition(bytes, FOOTER)) return null;
    if (!bytes.subarray(0, ANY_KEY.length).equals(ANY_KEY)) return null;
    const piece = readPiece(bytes);
    if (piece === null) return missingBytes(position + BigInt(START_OF_VALUE), size);
    position += piece.end;
    const cut = missingBytes(position, size);
    if (cut !== null) return cut;
  }
  return null;
}

async function hasFooterNearEnd(readAt: ReadAt, size: number): Promise<boolean> {
  const tail = await readAt(Math.max(0, size - MOST_TAIL_BYTES), MOST_TAIL_BYTES);
  return tail.includes(INDEX_KEY) || tail.includes(Buffer.concat([PARTITION_KEY, Buffer.of(FOOTER)]));
}

interface Piece {
  readonly valueAt: number;
  /** Offset of the end, from the beginning of the piece. */
  readonly end: bigint;
}

/**
 * Reads a BER length: a single byte below 128, otherwise the number of bytes that contain it. `null`: not all of it is
 * present.
 */
function readPiece(bytes: Buffer): Piece | null {
  const first = bytes[KEY_BYTES];
  if (first === undefined) return null;
  if (first < 0x80) return { valueAt: KEY_BYTES + 1, end: BigInt(KEY_BYTES + 1 + first) };
  const count = first & 0x7f;
  const digits = bytes.subarray(KEY_BYTES + 1, KEY_BYTES + 1 + count);
  if (count > 8 || digits.length < count) return null;
  const length = digits.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n);
  return { valueAt: KEY_BYTES + 1 + count, end: BigInt(KEY_BYTES + 1 + count) + length };
}

import type { ReadAt } from './read-at.ts';

/**
 * Where a file of chunks ends: WAV and AVI (RIFF), RF64 (EBU Tech 3306), and AIFF (FORM, big-endian). An AVI above 1 GB goes on in
 * RIFFs of the type AVIX.
 * @param size of the file, in bytes
 * @returns in bytes; `size` where the stated sizes contradict each other or leave out the media data, because players then read on
 */
export function chunksEnd(readAt: ReadAt, size: number): number {
  let end = wholeEnd(readAt, 0, size);
  for (let parts = 1; parts < MAX_PARTS && end !== undefined && isContinued(readAt(end, 12)); parts += 1)
    end = wholeEnd(readAt, end, size);
  return end ?? size;
}

export function isOfChunks(start: Uint8Array): boolean {
  return ['RIFF', 'RF64', 'FORM'].includes(nameAt(start, 0));
}

function isContinued(start: Uint8Array): boolean {
  return nameAt(start, 0) === 'RIFF' && nameAt(start, 8) === 'AVIX';
}

function nameAt(bytes: Uint8Array, position: number): string {
  return Buffer.from(bytes).toString('latin1', position, position + 4);
}

/** Of 1 GB each. */
const MAX_PARTS = 1024;
/** Recorders write some ten. Bounds the work for hostile files. */
const MAX_CHUNKS = 4096;

/** @returns undefined if it is cut off, its last chunk does not end where the whole does, or none has media data */
function wholeEnd(readAt: ReadAt, start: number, size: number): number | undefined {
  const whole = wholeAt(readAt, start);
  if (whole.end > size) return undefined;
  let position = start + 12;
  let hasMedia = false;
  for (let chunks = 0; chunks < MAX_CHUNKS && position < whole.end; chunks += 1) {
    const header = Buffer.from(readAt(position, 12));
    if (header.length < 8) return undefined;
    const stated = whole.isBigEndian ? header.readUInt32BE(4) : header.readUInt32LE(4);
    const bytes = stated === ALL_ONES ? whole.dataBytes : stated;
    hasMedia ||= bytes > 0 && (MEDIA.has(nameAt(header, 0)) || nameAt(header, 8) === 'movi');
    position += 8 + bytes;
    if (position !== whole.end) position += bytes % 2; // the last one has its padding, or not
  }
  return hasMedia && position === whole.end ? position : undefined;
}

const MEDIA = new Set(['data', 'SSND']);
const ALL_ONES = 0xff_ff_ff_ff;

interface Whole {
  readonly end: number;
  readonly isBigEndian: boolean;
  /** Of the data of an RF64, whose own size says nothing. */
  readonly dataBytes: number;
}

function wholeAt(readAt: ReadAt, start: number): Whole {
  const bytes = Buffer.alloc(36);
  bytes.set(readAt(start, bytes.length));
  const id = nameAt(bytes, 0);
  if (id === 'FORM') return { end: start + 8 + bytes.readUInt32BE(4), isBigEndian: true, dataBytes: Infinity };
  if (id === 'RIFF') return { end: start + 8 + bytes.readUInt32LE(4), isBigEndian: false, dataBytes: Infinity };
  const [wholeBytes, dataBytes] = [Number(bytes.readBigUInt64LE(20)), Number(bytes.readBigUInt64LE(28))];
  return { end: start + 8 + wholeBytes, isBigEndian: false, dataBytes };
}

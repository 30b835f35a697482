import type { ByteSource } from './byte-source.ts';
import { damaged, playable, truncated, type Probe } from './verdict.ts';

/** MP4, MOV, M4A: every box must lie inside the file; moov and media data must be there (ISO/IEC 14496-12 section 4.2). */
export async function probeMp4(file: ByteSource, head: Buffer): Promise<Probe | undefined> {
  if (!FIRST_BOXES.has(head.toString('latin1', 4, 8))) return undefined;
  const seen = new Map<string, Box>();
  try {
    for await (const box of boxesIn(file, 0, file.sizeBytes)) if (!seen.has(box.type)) seen.set(box.type, box);
  } catch (error) {
    if (error instanceof BoxError) return error.isCutOff ? truncated(error.message) : damaged(error.message);
    throw error;
  }
  const moov = seen.get('moov');
  if (!moov) return truncated('The file has no moov box: it was not finished or it is cut off.');
  if (!seen.has('mdat') && !seen.has('moof')) return truncated('The file has no media data (no mdat box).');
  return durationIn(file, moov);
}

interface Box {
  readonly type: string;
  readonly bodyStart: number;
  readonly end: number;
}

class BoxError extends Error {
  readonly isCutOff: boolean;

  constructor(message: string, isCutOff: boolean) {
    super(message);
    this.isCutOff = isCutOff;
  }
}

const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot', 'styp']);
// A file of nothing but empty boxes would otherwise keep the walk busy for minutes.
const MAX_BOXES = 100_000;

async function* boxesIn(file: ByteSource, start: number, end: number): AsyncGenerator<Box> {
  let offset = start;
  for (let count = 0; offset < end; count += 1) {
    if (count === MAX_BOXES) throw new BoxError('The file has too many boxes.', false);
    const box = await boxAt(file, offset, end);
    yield box;
    offset = box.end;
  }
}

async function boxAt(file: ByteSource, offset: number, end: number): Promise<Box> {
  const header = await file.read(offset, 16);
  if (header.length < 8) throw new BoxError(`The file ends inside a box header at byte ${offset}.`, true);
  const type = header.toString('latin1', 4, 8);
  const size32 = header.readUInt32BE(0);
  if (size32 === 1 && header.length < 16)
    throw new BoxError(`The file ends inside the header of its ${type} box.`, true);
  const headerSize = size32 === 1 ? 16 : 8;
  const size = size32 === 0 ? end - offset : size32 === 1 ? Number(header.readBigUInt64BE(8)) : size32;
  if (size < headerSize) throw new BoxError(`The box at byte ${offset} has the impossible size ${size}.`, false);
  if (offset + size > end)
    throw new BoxError(`The ${quoted(type)} box needs ${offset + size - end} bytes that are missing.`, true);
  return { type, bodyStart: offset + headerSize, end: offset + size };
}

/** The type is four bytes of an unknown file: only printable ones may reach a message. */
function quoted(type: string): string {
  return type.replace(/[^\x20-\x7e]/g, '?').trim();
}

async function durationIn(file: ByteSource, moov: Box): Promise<Probe> {
  try {
    for await (const box of boxesIn(file, moov.bodyStart, moov.end)) {
      if (box.type === 'mvhd') return playable('mp4', movieHeaderDuration(await file.read(box.bodyStart, 32)));
    }
  } catch (error) {
    if (error instanceof BoxError) return damaged(error.message);
    throw error;
  }
  return damaged('The moov box has no mvhd box.');
}

/** Seconds; null when unknown: a fragmented file says 0, a live one all ones (ISO/IEC 14496-12 section 8.2.2). */
function movieHeaderDuration(body: Buffer): number | null {
  const isLong = body[0] === 1;
  if (body.length < (isLong ? 32 : 20)) return null;
  const timescale = body.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(body.readBigUInt64BE(24)) : body.readUInt32BE(16);
  const isUnknown = duration === (isLong ? 2 ** 64 : 0xff_ff_ff_ff) || timescale === 0;
  return isUnknown ? null : duration / timescale;
}

import type { ReadAt } from './media-duration.ts';

/** MP4 and QuickTime: the movie header, `mvhd` in `moov` (ISO/IEC 14496-12, 8.2.2). A fragmented file has no duration there. */
export async function isoMediaDuration(readAt: ReadAt, start: Buffer): Promise<number | null> {
  if (!firstBoxes.has(start.toString('latin1', 4, 8))) return null;
  const moov = await find('moov', readAt, { from: 0, to: Infinity });
  const header = moov === null ? null : await find('mvhd', readAt, moov);
  if (header === null) return null;
  const bytes = await readAt(header.from, 32);
  if (bytes.length < 32) return null;
  const isLong = bytes[0] === 1;
  const scale = bytes.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(bytes.readBigUInt64BE(24)) : bytes.readUInt32BE(16);
  const isUnknown = duration === (isLong ? 2 ** 64 : 0xffff_ffff);
  return scale === 0 || isUnknown ? null : duration / scale;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The content of the first box of a type. */
async function find(type: string, readAt: ReadAt, { from, to }: Range): Promise<Range | null> {
  let at = from;
  for (let boxes = 0; boxes < mostBoxes && at < to; boxes += 1) {
    const head = await readAt(at, 16);
    if (head.length < 8) return null;
    const short = head.readUInt32BE(0);
    if (short === 1 && head.length < 16) return null;
    const headBytes = short === 1 ? 16 : 8;
    const size = short === 1 ? Number(head.readBigUInt64BE(8)) : short === 0 ? Infinity : short;
    // Less than its own head would go round in circles.
    if (size < headBytes) return null;
    if (head.toString('latin1', 4, 8) === type) return { from: at + headBytes, to: Math.min(at + size, to) };
    at += size;
  }
  return null;
}

const firstBoxes = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'styp']);
const mostBoxes = 1_000;

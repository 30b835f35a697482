import type { ReadAt } from './media-duration.ts';

/** Matroska and WebM: `Duration` in units of `TimestampScale` nanoseconds, both in the `Info` of the segment (RFC 9559, 5.1.2). */
export async function matroskaDuration(readAt: ReadAt, start: Buffer): Promise<number | null> {
  if (start.length < 8 || start.readUInt32BE(0) !== ids.ebml) return null;
  const segment = await find(ids.segment, readAt, { from: 0, to: Infinity });
  const info = segment === null ? null : await find(ids.info, readAt, segment);
  if (info === null) return null;
  const [duration, scale] = [await find(ids.duration, readAt, info), await find(ids.scale, readAt, info)];
  const value = duration === null ? null : floatIn(await readAt(duration.from, duration.to - duration.from));
  if (value === null) return null;
  const nanoseconds = scale === null ? 1_000_000 : uintIn(await readAt(scale.from, scale.to - scale.from));
  return (value * nanoseconds) / 1e9;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The content of the first element of an id. Numbers are cut to 8 bytes, which is their longest. */
async function find(id: number, readAt: ReadAt, { from, to }: Range): Promise<Range | null> {
  let at = from;
  for (let elements = 0; elements < mostElements && at < to; elements += 1) {
    const element = headOf(await readAt(at, 12));
    if (element === null) return null;
    const content = at + element.headBytes;
    const end = content + element.size;
    if (element.id === id)
      return { from: content, to: isNumber.has(id) ? Math.min(end, content + 8) : Math.min(end, to) };
    at = end;
  }
  return null;
}

interface Head {
  readonly id: number;
  readonly headBytes: number;
  /** `Infinity` when it is not known. */
  readonly size: number;
}

/** Id and size have 1 to 4 and 1 to 8 bytes: one more than the first has leading zero bits (RFC 8794, 4). */
function headOf(bytes: Buffer): Head | null {
  const idBytes = Math.clz32(bytes[0] ?? 0) - 23;
  const sizeBytes = Math.clz32(bytes[idBytes] ?? 0) - 23;
  if (idBytes > 4 || sizeBytes > 8 || bytes.length < idBytes + sizeBytes) return null;
  const id = bytes.readUIntBE(0, idBytes);
  let size = (bytes[idBytes] ?? 0) & ((1 << (8 - sizeBytes)) - 1);
  let isUnknown = size === (1 << (8 - sizeBytes)) - 1;
  for (const byte of bytes.subarray(idBytes + 1, idBytes + sizeBytes)) {
    size = size * 256 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { id, headBytes: idBytes + sizeBytes, size: isUnknown ? Infinity : size };
}

function floatIn(bytes: Buffer): number | null {
  const value = bytes.length === 4 ? bytes.readFloatBE(0) : bytes.length === 8 ? bytes.readDoubleBE(0) : Number.NaN;
  return Number.isFinite(value) ? value : null;
}

function uintIn(bytes: Buffer): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

const ids = { ebml: 0x1a45dfa3, segment: 0x18538067, info: 0x1549a966, duration: 0x4489, scale: 0x2ad7b1 };
const isNumber = new Set([ids.duration, ids.scale]);
const mostElements = 1_000;

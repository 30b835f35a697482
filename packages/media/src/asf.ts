import type { MediaFile } from './media-file.ts';
import { endsAt, flawed, missingBytes, sound } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export function isAsf({ start }: MediaFile): boolean {
  return start.length >= FIRST_OBJECT && start.subarray(0, 16).equals(HEADER);
}

/**
 * ASF (WMV, WMA), Advanced Systems Format specification 1.20.3, sections 3.1, 3.2 and 5.1. A file consists of a header
 * object, in which the file properties state the length of the file, then a data object, then indexes. A live broadcast
 * states no lengths. If only an index is truncated, every packet is present.
 */
export async function asfEnd({ readAt, size, start }: MediaFile): Promise<Verdict> {
  const headerEnd = start.readBigUInt64LE(16);
  const missing = missingBytes(headerEnd, size);
  if (missing !== null) return flawed('missing', missing);
  const properties = await objectIn(readAt, FILE_PROPERTIES, Number(headerEnd));
  if (properties === null) return sound();
  const isBroadcast = (properties.readUInt32LE(88) & 1) !== 0;
  if (isBroadcast) return sound();
  const data = await readAt(Number(headerEnd), 24);
  const isData = data.length === 24 && data.subarray(0, 16).equals(DATA);
  const dataEnd = isData ? headerEnd + data.readBigUInt64LE(16) : null;
  const whole = endsAt(properties.readBigUInt64LE(40), size);
  if (dataEnd === null || whole.flaw === null)
    return dataEnd === null ? whole : { ...endsAt(dataEnd, size), end: null };
  return missingBytes(dataEnd, size) === null ? flawed('small', whole.flaw.why) : whole;
}

const HEADER = Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex');
const DATA = Buffer.from('3626b2758e66cf11a6d900aa0062ce6c', 'hex');
const FILE_PROPERTIES = Buffer.from('a1dcab8c47a9cf118ee400c00c205365', 'hex');
/** Offset of the first inner object, after the header object's own id, length and object count. */
const FIRST_OBJECT = 30;
const PROPERTIES_BYTES = 104;
const MOST_OBJECTS = 64;

async function objectIn(readAt: MediaFile['readAt'], id: Buffer, end: number): Promise<Buffer | null> {
  let at = FIRST_OBJECT;
  for (let count = 0; count < MOST_OBJECTS && at + 24 <= end; count += 1) {
    const bytes = await readAt(at, PROPERTIES_BYTES);
    if (bytes.length < 24) return null;
    if (bytes.subarray(0, 16).equals(id)) return bytes.length < PROPERTIES_BYTES ? null : bytes;
    const length = bytes.readBigUInt64LE(16);
    if (length < 24n) return null;
    at += Number(length);
  }
  return null;
}

import { flawed, sound, missingBytes, endsAt } from './media-file.ts';
import type { MediaFile, Verdict } from './media-file.ts';
import { afterTag } from './flac.ts';

export function isTransportStream({ start }: MediaFile): boolean {
  return gridOf(start) !== undefined;
}

/**
 * MPEG transport streams, ISO/IEC 13818-1: packets of equal length, each with the same byte at the same offset. Nothing
 * states how many there are, so only a truncated packet reveals missing bytes: the file ends after the beginning of
 * one. A stopped recording or download leaves most files like that, and they play.
 */
export async function transportStreamEnd({ readAt, size, start }: MediaFile): Promise<Verdict> {
  const { packet, sync } = gridOf(start) ?? grids[0];
  const left = size % packet;
  if (left === 0) return sound();
  const end = await readAt(size - left - packet, packet + left);
  // The packets are out of step somewhere, so the packet grid proves nothing about the end.
  if (end[sync] !== SYNC) return sound();
  if (end[packet + sync] !== SYNC) return sound(left <= sync ? null : size - left);
  const why = `the container ends in the middle of a packet (${left} of ${packet} bytes)`;
  return flawed('small', why, size - left);
}

const SYNC = 0x47;
/** Enough packets to rule out chance. */
const LEAST_PACKETS = 5;

/**
 * Packet lengths and sync byte offsets in bytes: plain packets, packets preceded by a time stamp (Blu-ray, AVCHD), and
 * packets followed by error correction (DVB).
 */
const grids = [
  { packet: 188, sync: 0 },
  { packet: 192, sync: 4 },
  { packet: 204, sync: 0 },
] as const;

function gridOf(start: Buffer): (typeof grids)[number] | undefined {
  return grids.find(({ packet, sync }) => {
    for (let index = 0; index < LEAST_PACKETS; index += 1) if (start[index * packet + sync] !== SYNC) return false;
    return true;
  });
}

export function isFlv({ start }: MediaFile): boolean {
  return start.length >= 9 && start.toString('latin1', 0, 4) === 'FLV\x01';
}

/**
 * Flash Video, Adobe FLV specification 10.1, annex E: tags, each followed by its length. `filesize` in the first tag
 * (`onMetaData`) is the length of the whole file, if the writer knew it. Otherwise only a truncated tag reveals missing
 * bytes, as in a stopped recording, which still plays.
 */
export async function flvEnd({ readAt, size, start }: MediaFile): Promise<Verdict> {
  const stated = statedSize(start);
  const missing = stated === null ? null : missingBytes(Math.ceil(stated), size);
  if (missing !== null) return flawed('missing', missing);
  const headerBytes = start.readUInt32BE(5);
  if (stated !== null || size < headerBytes + 15) return sound();
  const length = (await readAt(size - 4, 4)).readUInt32BE();
  const tag = length <= size - 4 ? await readAt(size - 4 - length, 4) : Buffer.alloc(0);
  const isWhole = tag.length === 4 && tag.readUIntBE(1, 3) + 11 === length;
  return isWhole ? sound() : flawed('small', 'the container ends in the middle of its last tag');
}

const FILE_SIZE = Buffer.from('\0\x08filesize\0', 'latin1');
/** Limit above which a number cannot be a length. */
const LARGEST = 2 ** 53;

/** Reads `filesize`, an AMF0 number (a double) that follows its name; `null` if it is missing or not above 0. */
function statedSize(start: Buffer): number | null {
  const at = start.indexOf(FILE_SIZE) + FILE_SIZE.length;
  if (at < FILE_SIZE.length || at + 8 > start.length) return null;
  const value = start.readDoubleBE(at);
  return value > 0 && value < LARGEST ? value : null;
}

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

/** Whether a file begins with an MPEG audio frame, or with a tag that may precede one. */
export function isMp3({ start }: MediaFile): boolean {
  return start.length >= 10 && (start.toString('latin1', 0, 3) === 'ID3' || isFrame(start));
}

/**
 * MP3: the first frame may contain an index (`Xing`, `Info`) with the total length of all frames. Tools that cut or
 * join files leave the index unchanged and players ignore it, so a mismatch is only a hint and never holds a file.
 */
export async function mp3End({ readAt, size, start }: MediaFile): Promise<Verdict> {
  const at = afterTag(start);
  const frame = await readAt(at, 512);
  if (!isFrame(frame)) return sound();
  const index = Math.max(frame.indexOf('Xing', 0, 'latin1'), frame.indexOf('Info', 0, 'latin1'));
  if (index === -1 || index > 40 || frame.length < index + 16) return sound();
  const flags = frame.readUInt32BE(index + 4);
  if ((flags & HAS_BYTES) === 0) return sound();
  const stated = frame.readUInt32BE(index + ((flags & HAS_FRAMES) === 0 ? 8 : 12));
  const missing = missingBytes(at + stated, size);
  return missing === null ? sound() : flawed('hint', missing);
}

const HAS_FRAMES = 1;
const HAS_BYTES = 2;

/**
 * Whether the bytes are a Layer III frame header of MPEG 1, 2 or 2.5 with a bit rate and a sampling rate, ISO/IEC
 * 11172-3, 2.4.1.3.
 */
function isFrame(bytes: Buffer): boolean {
  const [sync = 0, kind = 0, rates = 0] = bytes;
  const isLayer3 = (kind & 0xe6) === 0xe2 && (kind & 0x18) !== 0x08;
  return sync === 0xff && isLayer3 && rates >> 4 !== 0xf && (rates & 0x0c) !== 0x0c;
}

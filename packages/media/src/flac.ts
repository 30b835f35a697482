import { flawed, missingBytes, sound } from './media-file.ts';
import type { MediaFile, ReadAt, Verdict } from './media-file.ts';

/** Whether a file is FLAC. Some tools prepend an ID3v2 tag, which may be longer than `start`. */
export async function isFlac({ readAt, start }: MediaFile): Promise<boolean> {
  return (await readAt(afterTag(start), 4)).toString('latin1') === 'fLaC';
}

/**
 * FLAC, RFC 9639: metadata blocks, the first of which states the number of samples, then frames that state which
 * samples they contain. A file is complete if one of the last frames contains the last sample and is complete. A stream
 * of unknown length cannot be checked.
 */
export async function flacEnd({ readAt, size, start }: MediaFile): Promise<Verdict> {
  const why = await flacFlaw(readAt, size, afterTag(start));
  return why === null ? sound() : flawed('missing', why);
}

/** Returns samples divided by samples per second, both from the first block (8.2). */
export async function flacDuration({ readAt, start }: MediaFile): Promise<number | null> {
  const head = await readAt(afterTag(start), BEFORE_FRAMES);
  const info = head.length < BEFORE_FRAMES ? null : readInfo(head);
  return info === null ? null : info.samples / info.sampleRate;
}

async function flacFlaw(readAt: ReadAt, size: number, at: number): Promise<string | null> {
  const head = await readAt(at, BEFORE_FRAMES);
  if (head.length < BEFORE_FRAMES) return 'the container ends before its first frame';
  const info = readInfo(head);
  const frames = await framesFrom(readAt, size, at + 4);
  if (typeof frames === 'string') return frames;
  if (info === null || info.samples === 0 || frames === null) return null;
  return endFlaw(readAt, info, { from: frames, size });
}

/** Length of `fLaC` and the first metadata block, with 4 bytes of header and 34 of content. */
const BEFORE_FRAMES = 42;
const MOST_BLOCKS = 128;
/** Maximum length of the searched tail. Frames of usual sizes are smaller than a fiftieth of it. */
const MOST_TAIL_BYTES = 1024 * 1024;
const LEAST_TAIL_BYTES = 64 * 1024;

/** @returns offset of the end of an ID3v2 tag, in bytes; 0 without one */
export function afterTag(start: Buffer): number {
  if (start.length < 10 || start.toString('latin1', 0, 3) !== 'ID3') return 0;
  return start.subarray(6, 10).reduce((value, byte) => value * 128 + (byte & 0x7f), 0) + 10;
}

function readInfo(head: Buffer): StreamInfo | null {
  if (((head[4] ?? 0) & 0x7f) !== 0) return null;
  const packed = head.readBigUInt64BE(18);
  return {
    blockSamples: head.readUInt16BE(8),
    isFixed: head.readUInt16BE(8) === head.readUInt16BE(10),
    mostFrameBytes: head.readUIntBE(15, 3),
    sampleRate: Number(packed >> 44n),
    samples: Number(packed & 0xfffffffffn),
    sampleBits: Number((packed >> 36n) & 0x1fn) + 1,
    channels: Number((packed >> 41n) & 0x7n) + 1,
  };
}

/** @returns offset of the first frame; a flaw if the metadata are truncated; null if unknown */
async function framesFrom(readAt: ReadAt, size: number, from: number): Promise<number | string | null> {
  let position = from;
  for (let step = 0; step < MOST_BLOCKS; step += 1) {
    const header = await readAt(position, 4);
    if (header.length < 4) return 'the container ends before its first frame';
    position += 4 + header.readUIntBE(1, 3);
    const missing = missingBytes(position, size);
    if (missing !== null) return missing;
    if (((header[0] ?? 0) & 0x80) !== 0) return position;
  }
  return null;
}

async function endFlaw(
  readAt: ReadAt,
  info: StreamInfo,
  { from, size }: { readonly from: number; readonly size: number },
): Promise<string | null> {
  const wanted = Math.min(Math.max(3 * info.mostFrameBytes, LEAST_TAIL_BYTES), MOST_TAIL_BYTES);
  const tailAt = Math.max(from, size - wanted);
  const tail = await readAt(tailAt, size - tailAt);
  const frames = framesIn(tail, info);
  const last = frames.reduce<Frame | null>((one, other) => (one === null || other.end >= one.end ? other : one), null);
  if (last === null) return tailAt === from ? missingSamples(info.samples) : null;
  // There are more samples than the file states, which is not for this check to judge.
  if (last.end > info.samples) return null;
  if (last.end < info.samples) return missingSamples(info.samples - last.end);
  return isWholeFrame(tail.subarray(last.at)) ? null : 'the container ends in the middle of its last frame';
}

function missingSamples(count: number): string {
  return `the container says ${count.toLocaleString('en-US')} ${count === 1 ? 'sample is' : 'samples are'} missing`;
}

/** Stream properties of a FLAC file, RFC 9639, 8.2. */
interface StreamInfo {
  /** Samples per channel in a frame; the minimum if it varies. */
  readonly blockSamples: number;
  readonly isFixed: boolean;
  /** Size of the largest frame in bytes; 0: unknown. */
  readonly mostFrameBytes: number;
  /** Samples per second. */
  readonly sampleRate: number;
  /** Samples per channel; 0: unknown. */
  readonly samples: number;
  readonly sampleBits: number;
  readonly channels: number;
}

interface Frame {
  /** Byte offset in the searched piece. */
  readonly at: number;
  /** Number of the first sample after the frame. */
  readonly end: number;
}

/**
 * Finds the frames that begin in a piece of a file, RFC 9639, 9.1. Audio data can look like the beginning of a frame,
 * so a frame must have a correct checksum and agree with the stream properties.
 */
function framesIn(bytes: Buffer, info: StreamInfo): readonly Frame[] {
  const found: Frame[] = [];
  for (let at = bytes.indexOf(0xff); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const end = readHeader(bytes.subarray(at, at + LONGEST_HEADER), info);
    if (end !== null && end <= info.samples) found.push({ at, end });
  }
  return found;
}

/**
 * Whether a frame that begins here is complete, that is, ends with a matching checksum at one of the next positions. A
 * match occurs by chance once in 65,536 positions, so a truncated frame may pass, but a complete one always does.
 */
function isWholeFrame(bytes: Buffer): boolean {
  let crc = 0;
  for (const byte of bytes) {
    crc = ((crc << 8) & 0xffff) ^ (crc16[(crc >> 8) ^ byte] ?? 0);
    if (crc === 0) return true;
  }
  return false;
}

const LONGEST_HEADER = 16;

/** @returns number of the first sample after the frame; null if no frame begins here */
function readHeader(bytes: Buffer, info: StreamInfo): number | null {
  const [sync, strategy = 0, sizes = 0, format = 0] = bytes;
  const isVariable = strategy === 0xf9;
  if (sync !== 0xff || (strategy !== 0xf8 && !isVariable) || (isVariable && info.isFixed)) return null;
  if (!agrees(format, info)) return null;
  const number = readNumber(bytes);
  if (number === null) return null;
  const sizeCode = sizes >> 4;
  const sizeBytes = sizeCode === 6 ? 1 : sizeCode === 7 ? 2 : 0;
  const rateCode = sizes & 0xf;
  const rateBytes = rateCode === 12 ? 1 : rateCode === 13 || rateCode === 14 ? 2 : 0;
  const checksumAt = number.end + sizeBytes + rateBytes;
  if (sizeCode === 0 || rateCode === 15 || bytes.length <= checksumAt) return null;
  if (crc8(bytes.subarray(0, checksumAt)) !== bytes[checksumAt]) return null;
  const samples = sizeBytes > 0 ? bytes.readUIntBE(number.end, sizeBytes) + 1 : samplesOf(sizeCode);
  return (isVariable ? number.value : number.value * info.blockSamples) + samples;
}

/** Whether a frame has the channels and bits per sample of the stream. */
function agrees(format: number, { channels, sampleBits }: StreamInfo): boolean {
  const layout = format >> 4;
  const bits = BITS[(format >> 1) & 7];
  const isLayout = layout < 8 ? layout + 1 === channels : layout <= 10 && channels === 2;
  return isLayout && (format & 1) === 0 && (bits === 0 || bits === sampleBits);
}

/** Bits per sample by code; 0: as stated in the stream properties. */
const BITS = [0, 8, 12, undefined, 16, 20, 24, 32];

function samplesOf(code: number): number {
  if (code === 1) return 192;
  return code < 6 ? 144 * 2 ** code : 2 ** code;
}

/** Reads a number encoded like a UTF-8 character, but with up to seven bytes. `end`: byte offset in the header. */
function readNumber(bytes: Buffer): { readonly value: number; readonly end: number } | null {
  const first = bytes[4] ?? 0xff;
  if (first < 0x80) return { value: first, end: 5 };
  const count = Math.clz32(~(first << 24)) - 1;
  if (count < 1 || count > 6 || bytes.length < 5 + count) return null;
  let value = first & (0x3f >> count);
  for (const byte of bytes.subarray(5, 5 + count)) {
    if (byte >> 6 !== 2) return null;
    value = value * 64 + (byte & 0x3f);
  }
  return { value, end: 5 + count };
}

function crc8(bytes: Buffer): number {
  return bytes.reduce((crc, byte) => divided(crc ^ byte, 0x07, 8), 0);
}

const crc16 = Array.from({ length: 256 }, (_, byte) => divided(byte << 8, 0x8005, 16));

/** Returns the remainder after eight more bits. @param bits size of the polynomial */
function divided(value: number, polynomial: number, bits: number): number {
  let rest = value;
  for (let bit = 0; bit < 8; bit += 1) rest = (rest << 1) ^ ((rest >> (bits - 1)) & 1 ? polynomial : 0);
  return rest & (2 ** bits - 1);
}

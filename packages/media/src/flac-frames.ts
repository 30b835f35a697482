/** Stream properties of a FLAC file, RFC 9639, 8.2. */
export interface StreamInfo {
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

export interface Frame {
  /** Byte offset in the searched piece. */
  readonly at: number;
  /** Number of the first sample after the frame. */
  readonly end: number;
}

/**
 * Finds the frames that begin in a piece of a file, RFC 9639, 9.1. Audio data can look like the beginning of a frame,
 * so a frame must have a correct checksum and agree with the stream properties.
 */
export function framesIn(bytes: Buffer, info: StreamInfo): readonly Frame[] {
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
export function isWholeFrame(bytes: Buffer): boolean {
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

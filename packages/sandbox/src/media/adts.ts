import { afterTag } from '@dropcast/media';

/**
 * Returns the playing time of an ADTS file in seconds; `null` if it does not begin with a frame. Nothing states the
 * number of frames, so they are counted, up to the first bytes that are none (ISO/IEC 13818-7, 6.2).
 *
 * @param read returns bytes at an offset, fewer at the end of the file
 */
export function adtsSeconds(read: (length: number, offset: number) => Uint8Array): number | null {
  let piece = Buffer.from(read(PIECE_BYTES, 0));
  let pieceAt = 0;
  let seconds = 0;
  for (let at = afterTag(piece); at < MOST_BYTES;) {
    if (at + HEADER_BYTES > pieceAt + piece.length) {
      piece = Buffer.from(read(PIECE_BYTES, at));
      pieceAt = at;
    }
    const frame = frameOf(piece.subarray(at - pieceAt));
    if (frame === null) break;
    seconds += frame.seconds;
    at += frame.bytes;
  }
  return seconds > 0 ? seconds : null;
}

const HEADER_BYTES = 7;
const PIECE_BYTES = 256 * 1024;
/** Most bytes looked through, as for MediaInfo. */
const MOST_BYTES = 256 * 1024 * 1024;
/** Sampling rates by their index, in Hz. */
const RATES = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350];
const SAMPLES_PER_BLOCK = 1024;

function frameOf(header: Buffer): { readonly seconds: number; readonly bytes: number } | null {
  if (header.length < HEADER_BYTES || (header.readUInt16BE(0) & 0xfff6) !== 0xfff0) return null;
  const rate = RATES[(header.readUInt8(2) >> 2) & 15];
  const bytes = (header.readUInt32BE(3) >> 13) & 0x1fff;
  const blocks = (header.readUInt8(6) & 3) + 1;
  return rate === undefined || bytes < HEADER_BYTES ? null : { seconds: (blocks * SAMPLES_PER_BLOCK) / rate, bytes };
}

import { afterTag } from './flac.ts';
import type { MediaFile } from './media-file.ts';
import { flawed, missingBytes, sound } from './verdict.ts';
import type { Verdict } from './verdict.ts';

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

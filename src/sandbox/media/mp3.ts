import type { ByteSource } from './byte-source.ts';
import { playable, truncated, type Probe } from './verdict.ts';

/** MP3 (and MP2): two frame headers in a row, after an ID3v2 tag if there is one (ISO/IEC 11172-3 section 2.4.1.3). */
export async function probeMp3(file: ByteSource, head: Buffer): Promise<Probe | undefined> {
  const tagBytes = id3TagBytes(head);
  if (tagBytes > file.sizeBytes) return truncated('The file ends inside its ID3 tag.');
  const window = await file.read(tagBytes, WINDOW_BYTES);
  // Taggers leave padding between tag and sound; without a tag the first frame is the first byte.
  const start = firstFrameIn(window, tagBytes > 0 ? WINDOW_BYTES : 1);
  const frame = start === undefined ? undefined : frameAt(window, start);
  if (start === undefined || !frame)
    return tagBytes > 0 ? truncated('The file has an ID3 tag but no MP3 frames after it.') : undefined;
  return playable('mp3', durationOf(window.subarray(start), frame, file.sizeBytes - tagBytes - start));
}

interface Frame {
  readonly lengthBytes: number;
  readonly bitsPerSecond: number;
  readonly samplesPerSecond: number;
  readonly samples: number;
}

const WINDOW_BYTES = 64 * 1024;

function id3TagBytes(head: Buffer): number {
  if (head.length < 10 || head.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = head.subarray(6, 10).reduce((total, byte) => total * 128 + (byte & 0x7f), 0);
  const footerBytes = (head.readUInt8(5) & 0x10) === 0 ? 0 : 10;
  return 10 + size + footerBytes;
}

function firstFrameIn(window: Buffer, limit: number): number | undefined {
  for (let offset = 0; offset < Math.min(limit, window.length - 4); offset += 1) {
    const frame = frameAt(window, offset);
    if (frame && frameAt(window, offset + frame.lengthBytes)) return offset;
  }
  return undefined;
}

// kbit/s by index of the header, for MPEG-1 layer II and III and for MPEG-2 and 2.5, layers II and III.
const KILOBITS: Readonly<Record<string, readonly number[]>> = {
  'v1 layer 2': [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  'v1 layer 3': [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  v2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const SAMPLE_RATES = [44_100, 48_000, 32_000];

function frameAt(bytes: Buffer, offset: number): Frame | undefined {
  if (offset + 4 > bytes.length) return undefined;
  const header = bytes.readUInt32BE(offset);
  const version = (header >>> 19) & 3; // 3 = MPEG-1, 2 = MPEG-2, 0 = MPEG-2.5
  const layer = 4 - ((header >>> 17) & 3);
  if (header >>> 21 !== 0x7ff || version === 1 || (layer !== 2 && layer !== 3)) return undefined;
  const kilobits = KILOBITS[version === 3 ? `v1 layer ${layer}` : 'v2']?.[(header >>> 12) & 15];
  const fullRate = SAMPLE_RATES[(header >>> 10) & 3];
  if (!kilobits || !fullRate) return undefined;
  const samplesPerSecond = fullRate / { 3: 1, 2: 2, 0: 4 }[version as 0 | 2 | 3];
  const samples = layer === 3 && version !== 3 ? 576 : 1152;
  const padding = (header >>> 9) & 1;
  const lengthBytes = Math.floor((samples * kilobits * 125) / samplesPerSecond) + padding;
  return { lengthBytes, bitsPerSecond: kilobits * 1000, samplesPerSecond, samples };
}

/** Seconds: by the frame count of a Xing or Info header, which variable bit rates have, else by the constant bit rate. */
function durationOf(sound: Buffer, frame: Frame, soundBytes: number): number {
  const head = sound.subarray(0, frame.lengthBytes);
  const at = Math.max(head.indexOf('Xing'), head.indexOf('Info'));
  const hasFrameCount = at > 0 && at + 12 <= head.length && (head.readUInt32BE(at + 4) & 1) === 1;
  if (hasFrameCount) return (head.readUInt32BE(at + 8) * frame.samples) / frame.samplesPerSecond;
  return (soundBytes * 8) / frame.bitsPerSecond;
}

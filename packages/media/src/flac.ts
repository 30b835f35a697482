import { framesIn, isWholeFrame } from './flac-frames.ts';
import type { Frame, StreamInfo } from './flac-frames.ts';
import type { MediaFile, ReadAt } from './media-file.ts';
import { flawed, missingBytes, sound } from './verdict.ts';
import type { Verdict } from './verdict.ts';

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

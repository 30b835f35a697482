import type { ByteSource } from './byte-source.ts';
import { playable, truncated, type Probe } from './verdict.ts';

/** WAV (also RF64) and AVI. The RIFF size must lie inside the file; 0 and all ones are what live recorders leave. */
export async function probeRiff(file: ByteSource, head: Buffer): Promise<Probe | undefined> {
  const form = head.toString('latin1', 8, 12);
  if (!['RIFF', 'RF64'].includes(head.toString('latin1', 0, 4)) || !['WAVE', 'AVI '].includes(form)) return undefined;
  const size = head.readUInt32LE(4);
  const missing = size === 0xff_ff_ff_ff ? 0 : size + 8 - file.sizeBytes;
  if (missing > 0) return truncated(`The RIFF header promises ${missing} bytes that are missing.`);
  return form === 'WAVE' ? playable('wav', await waveDuration(file)) : playable('avi', aviDuration(head));
}

const MAX_CHUNKS = 1000;

/** Seconds: the size of the data chunk over the bytes per second of the fmt chunk. */
async function waveDuration(file: ByteSource): Promise<number | null> {
  let bytesPerSecond = 0;
  let offset = 12;
  for (let count = 0; count < MAX_CHUNKS; count += 1) {
    const chunk = await file.read(offset, 24);
    if (chunk.length < 8) return null;
    const size = chunk.readUInt32LE(4);
    const type = chunk.toString('latin1', 0, 4);
    if (type === 'fmt ' && chunk.length >= 20) bytesPerSecond = chunk.readUInt32LE(16);
    if (type === 'data')
      return bytesPerSecond > 0 ? Math.min(size, file.sizeBytes - offset - 8) / bytesPerSecond : null;
    offset += 8 + size + (size % 2); // chunks are padded to even sizes
  }
  return null;
}

/** Seconds: frames × µs per frame of the main header, which is always the first chunk of the first list. */
function aviDuration(head: Buffer): number | null {
  if (head.length < 52 || head.toString('latin1', 20, 28) !== 'hdrlavih') return null;
  return (head.readUInt32LE(32) * head.readUInt32LE(48)) / 1e6;
}

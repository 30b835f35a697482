import type { ReadAt } from './media-duration.ts';

/** WAV and RF64: bytes of sound by bytes per second. A recorder writes the size last: 0 or all ones says that it is not known. */
export async function waveDuration(readAt: ReadAt, start: Buffer): Promise<number | null> {
  const form = start.toString('latin1', 0, 4);
  if (!['RIFF', 'RF64'].includes(form) || start.toString('latin1', 8, 12) !== 'WAVE') return null;
  let bytesPerSecond = 0;
  let longSize = 0;
  let at = 12;
  for (let chunks = 0; chunks < mostChunks; chunks += 1) {
    const chunk = await readAt(at, 24);
    if (chunk.length < 8) return null;
    const type = chunk.toString('latin1', 0, 4);
    const size = chunk.readUInt32LE(4);
    if (type === 'fmt ' && chunk.length >= 20) bytesPerSecond = chunk.readUInt32LE(16);
    if (type === 'ds64' && chunk.length === 24) longSize = Number(chunk.readBigUInt64LE(16));
    if (type === 'data') {
      const bytes = size === 0xffff_ffff ? longSize : size;
      return bytesPerSecond === 0 || bytes === 0 ? null : bytes / bytesPerSecond;
    }
    at += 8 + size + (size % 2);
  }
  return null;
}

const mostChunks = 1_000;

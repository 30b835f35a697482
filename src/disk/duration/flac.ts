import type { ReadAt } from './media-duration.ts';

/** FLAC: samples by samples per second, both in STREAMINFO, which comes first (RFC 9639, 8.2). 0 samples: not known. */
export async function flacDuration(_readAt: ReadAt, start: Buffer): Promise<number | null> {
  if (start.toString('latin1', 0, 4) !== 'fLaC' || start.length < 26) return null;
  const rate = start.readUIntBE(18, 3) >>> 4;
  const samples = ((start[21] ?? 0) & 0xf) * 2 ** 32 + start.readUInt32BE(22);
  return rate === 0 || samples === 0 ? null : samples / rate;
}

import type { ByteSource } from './byte-source.ts';
import { playable, truncated, type Probe } from './verdict.ts';

/** FLAC: the STREAMINFO block is always first and has the number of samples (RFC 9639 section 8.2). */
export async function probeFlac(_file: ByteSource, head: Buffer): Promise<Probe | undefined> {
  if (head.toString('latin1', 0, 4) !== 'fLaC') return undefined;
  if (head.length < 42) return truncated('The file ends inside its stream information.');
  const sampleRate = head.readUIntBE(18, 3) >> 4;
  const samples = (head.readUInt8(21) & 0x0f) * 2 ** 32 + head.readUInt32BE(22);
  return playable('flac', sampleRate === 0 ? null : samples / sampleRate);
}

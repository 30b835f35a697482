import { missingBytes } from './missing-bytes.ts';
import type { ReadAt } from './read-at.ts';

/**
 * WAV (RIFF), RF64 and BW64 (EBU Tech 3306, ITU-R BS.2088): chunks with a 32-bit length each; those of more than 4 GB have their length
 * in the chunk `ds64`. A recorder writes the lengths when it ends: until then they are 0 or 0xFFFFFFFF.
 *
 * @param start the first bytes of the file
 */
export async function waveFlaw(readAt: ReadAt, size: number, start: Buffer): Promise<string | null> {
  const form = start.toString('latin1', 0, 4);
  if (!FORMS.has(form) || start.toString('latin1', 8, 12) !== 'WAVE') return null;
  const whole = start.readUInt32LE(4);
  if (form === 'RIFF' && isOpen(whole)) return STILL_RECORDED;
  if (form === 'RIFF' && whole + 8 > size + TOLERATED_BYTES) return missingBytes(BigInt(whole + 8), size);
  return chunkFlaw(readAt, size, form === 'RIFF');
}

const FORMS = new Set(['RIFF', 'RF64', 'BW64']);
const UNKNOWN = 0xffffffff;
/** Some writers count the header too, or a last byte that only makes the length even. */
const TOLERATED_BYTES = 8;
const MOST_CHUNKS = 256;
const STILL_RECORDED = 'the container has no length yet: it is still being recorded, or its recording broke off';

/** Up to the samples: what follows them is inside the length of the whole, which was checked. */
async function chunkFlaw(readAt: ReadAt, size: number, isRiff: boolean): Promise<string | null> {
  let position = 12;
  let longLength: bigint | null = null;
  for (let step = 0; step < MOST_CHUNKS; step += 1) {
    const header = await readAt(position, 36);
    if (header.length < 8) return 'the container ends before its samples';
    const type = header.toString('latin1', 0, 4);
    const length = header.readUInt32LE(4);
    if (type === 'ds64' && header.length >= 24) longLength = header.readBigUInt64LE(16);
    if (type === 'data') return dataFlaw(position, isRiff || length !== UNKNOWN ? BigInt(length) : longLength, size);
    // A chunk has an even length, whatever it says.
    position += 8 + length + (length % 2);
  }
  return null;
}

function dataFlaw(position: number, length: bigint | null, size: number): string | null {
  if (length === null || length === 0n || length === BigInt(UNKNOWN)) return STILL_RECORDED;
  return missingBytes(BigInt(position + 8) + length, size);
}

function isOpen(length: number): boolean {
  return length === 0 || length === UNKNOWN;
}

import { flacFlaw } from './container/flac.ts';
import { isoMediaFlaw } from './container/iso-media.ts';
import { matroskaFlaw } from './container/matroska.ts';
import { mxfFlaw } from './container/mxf.ts';
import type { ReadAt } from './container/read-at.ts';
import { transportStreamFlaw } from './container/transport-stream.ts';
import { waveFlaw } from './container/wave.ts';

/**
 * Whether a media container says itself that bytes are missing, by its own lengths and counts. Reads a few pieces of the file, at most
 * 3 MiB of it, whatever is in it. Any other content is not ours to judge (design, section 6; docs/decisions/0047).
 *
 * @param size of the file in bytes
 * @returns the flaw in words, or `null`
 * @throws what `readAt` throws
 */
export async function containerFlaw(readAt: ReadAt, size: number): Promise<string | null> {
  const start = await readAt(0, START_BYTES);
  for (const flawOf of formats) {
    const flaw = await flawOf(readAt, size, start);
    if (flaw !== null) return flaw;
  }
  return null;
}

/** Each knows its own by the first bytes of the file, and has nothing to say about others. */
const formats: readonly ((readAt: ReadAt, size: number, start: Buffer) => Promise<string | null>)[] = [
  isoMediaFlaw,
  matroskaFlaw,
  transportStreamFlaw,
  mxfFlaw,
  waveFlaw,
  flacFlaw,
];

/** Five packets of the longest kind of transport stream. */
const START_BYTES = 1024;

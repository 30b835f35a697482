import type { ReadAt } from './read-at.ts';

/**
 * MPEG transport streams, ISO/IEC 13818-1: packets of equal length, each with the same byte at the same place. Nothing says how many
 * there are. So only a packet that breaks off tells that bytes are missing: the file ends behind the beginning of one.
 *
 * @param start the first bytes of the file
 */
export async function transportStreamFlaw(readAt: ReadAt, size: number, start: Buffer): Promise<string | null> {
  const grid = grids.find(({ packet, sync }) => isOnGrid(start, packet, sync));
  if (grid === undefined) return null;
  const { packet, sync } = grid;
  const left = size % packet;
  // Nothing is left, or too little to know whether it is a packet.
  if (left <= sync) return null;
  const end = await readAt(size - left - packet, packet + left);
  // Somewhere the packets slipped, or something else follows them.
  if (end[sync] !== SYNC || end[packet + sync] !== SYNC) return null;
  return `the container ends in the middle of a packet (${left} of ${packet} bytes)`;
}

const SYNC = 0x47;
/** Enough to be no accident. */
const LEAST_PACKETS = 5;

/** Bytes: plain packets, those with a time stamp in front (Blu-ray, AVCHD), those with error correction behind (DVB). */
const grids = [
  { packet: 188, sync: 0 },
  { packet: 192, sync: 4 },
  { packet: 204, sync: 0 },
];

function isOnGrid(start: Buffer, packet: number, sync: number): boolean {
  for (let index = 0; index < LEAST_PACKETS; index += 1) if (start[index * packet + sync] !== SYNC) return false;
  return true;
}

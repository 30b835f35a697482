import type { MediaFile } from './media-file.ts';
import { flawed, sound } from './verdict.ts';
import type { Verdict } from './verdict.ts';

export function isTransportStream({ start }: MediaFile): boolean {
  return gridOf(start) !== undefined;
}

/**
 * MPEG transport streams, ISO/IEC 13818-1: packets of equal length, each with the same byte at the same offset. Nothing
 * states how many there are, so only a truncated packet reveals missing bytes: the file ends after the beginning of
 * one. A stopped recording or download leaves most files like that, and they play.
 */
export async function transportStreamEnd({ readAt, size, start }: MediaFile): Promise<Verdict> {
  const { packet, sync } = gridOf(start) ?? grids[0];
  const left = size % packet;
  if (left === 0) return sound();
  const end = await readAt(size - left - packet, packet + left);
  // The packets are out of step somewhere, so the packet grid proves nothing about the end.
  if (end[sync] !== SYNC) return sound();
  if (end[packet + sync] !== SYNC) return sound(left <= sync ? null : size - left);
  const why = `the container ends in the middle of a packet (${left} of ${packet} bytes)`;
  return flawed('small', why, size - left);
}

const SYNC = 0x47;
/** Enough packets to rule out chance. */
const LEAST_PACKETS = 5;

/**
 * Packet lengths and sync byte offsets in bytes: plain packets, packets preceded by a time stamp (Blu-ray, AVCHD), and
 * packets followed by error correction (DVB).
 */
const grids = [
  { packet: 188, sync: 0 },
  { packet: 192, sync: 4 },
  { packet: 204, sync: 0 },
] as const;

function gridOf(start: Buffer): (typeof grids)[number] | undefined {
  return grids.find(({ packet, sync }) => {
    for (let index = 0; index < LEAST_PACKETS; index += 1) if (start[index * packet + sync] !== SYNC) return false;
    return true;
  });
}

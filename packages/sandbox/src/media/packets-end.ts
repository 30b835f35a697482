import type { ReadAt } from './read-at.ts';

/**
 * Where a transport stream ends: before stray bytes that begin no packet (ISO/IEC 13818-1 section 2.4.3.2).
 * @param size of the file, in bytes
 * @returns in bytes; `size` for other formats, and where the last packet is cut off
 */
export function packetsEnd(readAt: ReadAt, size: number): number {
  const layout = LAYOUTS.find(({ syncAt, bytes }) =>
    [0, 1, 2].every((packet) => readAt(packet * bytes + syncAt, 1)[0] === SYNC),
  );
  if (!layout) return size;
  const rest = size % layout.bytes;
  const isStray = rest > layout.syncAt && readAt(size - rest + layout.syncAt, 1)[0] !== SYNC;
  return isStray ? size - rest : size;
}

const SYNC = 0x47;

/** Plain, and with a time before each packet as in M2TS. */
const LAYOUTS = [
  { bytes: 188, syncAt: 0 },
  { bytes: 192, syncAt: 4 },
];

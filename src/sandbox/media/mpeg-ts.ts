import type { ByteSource } from './byte-source.ts';
import { playable, truncated, type Probe } from './verdict.ts';

/** MPEG transport streams, plain (188 bytes a packet) and as cameras write them (192, with a time stamp before each). */
export async function probeMpegTs(file: ByteSource, head: Buffer): Promise<Probe | undefined> {
  const layout = LAYOUTS.find((candidate) => isSynchronous(head, candidate));
  if (!layout) return undefined;
  const rest = file.sizeBytes % layout.packetBytes;
  if (rest > 0) return truncated(`The last packet is cut off after ${rest} of ${layout.packetBytes} bytes.`);
  return playable('mpeg-ts', await clockSpan(file, layout));
}

interface Layout {
  readonly packetBytes: number;
  readonly syncOffset: number;
}

const LAYOUTS: readonly Layout[] = [
  { packetBytes: 188, syncOffset: 0 },
  { packetBytes: 192, syncOffset: 4 },
];
const SYNC = 0x47;
const PACKETS_CHECKED = 5;
const SCAN_BYTES = 188 * 192 * 8;

function isSynchronous(head: Buffer, { packetBytes, syncOffset }: Layout): boolean {
  const offsets = Array.from({ length: PACKETS_CHECKED }, (_, index) => syncOffset + index * packetBytes);
  const inside = offsets.filter((offset) => offset < head.length);
  return inside.length >= 2 && inside.every((offset) => head[offset] === SYNC);
}

/** Seconds between the first and the last program clock reference of the same stream (ISO/IEC 13818-1 section 2.4.3.5). */
async function clockSpan(file: ByteSource, layout: Layout): Promise<number | null> {
  const tailStart = Math.max(0, file.sizeBytes - SCAN_BYTES); // both are multiples of the packet size
  const first = clocksIn(await file.read(0, SCAN_BYTES), layout)[0];
  const last = clocksIn(await file.read(tailStart, SCAN_BYTES), layout).findLast(({ pid }) => pid === first?.pid);
  if (!first || !last) return null;
  const ticks = (last.ticks - first.ticks + CLOCK_WRAP) % CLOCK_WRAP;
  return ticks / 90_000;
}

const CLOCK_WRAP = 2 ** 33;

function clocksIn(bytes: Buffer, { packetBytes, syncOffset }: Layout): { pid: number; ticks: number }[] {
  const clocks = [];
  for (let start = syncOffset; start + 188 <= bytes.length; start += packetBytes) {
    const packet = bytes.subarray(start, start + 188);
    const hasAdaptation = (packet.readUInt8(3) & 0x20) !== 0 && packet.readUInt8(4) >= 7;
    if (packet[0] !== SYNC || !hasAdaptation || (packet.readUInt8(5) & 0x10) === 0) continue;
    clocks.push({
      pid: packet.readUInt16BE(1) & 0x1fff,
      ticks: packet.readUInt32BE(6) * 2 + (packet.readUInt8(10) >> 7),
    });
  }
  return clocks;
}

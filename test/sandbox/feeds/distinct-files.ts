import { readSample } from '../running-sandbox.ts';

/**
 * Real media files, each with bytes of its own: a sample with something at its end that its container allows there and every
 * player skips.
 */
export async function distinctFiles(count: number): Promise<{ name: string; bytes: Buffer<ArrayBuffer> }[]> {
  const files = Array.from({ length: count }, async (_, index) => {
    const [name, padding] = KINDS[index % KINDS.length] as Kind;
    return { name, bytes: Buffer.concat([await readSample(name), padding(index)]) };
  });
  return Promise.all(files);
}

type Kind = readonly [sample: string, padding: (counter: number) => Buffer];

const KINDS: readonly Kind[] = [
  ['clip.mp4', freeBox],
  ['camera.mov', freeBox],
  ['lecture.mkv', voidElement],
  ['interview.mp3', id3v1],
  ['broadcast.m2ts', nullPacket],
  ['phone-vertical.mp4', freeBox],
];

/** ISO/IEC 14496-12 section 8.1.2. */
function freeBox(counter: number): Buffer {
  const box = Buffer.alloc(16);
  box.writeUInt32BE(16, 0);
  box.write('free', 4);
  box.writeUInt32BE(counter, 8);
  return box;
}

/** RFC 8794 section 11.3.2, allowed at any level. */
function voidElement(counter: number): Buffer {
  const element = Buffer.from([0xec, 0x88, 0, 0, 0, 0, 0, 0, 0, 0]);
  element.writeUInt32BE(counter, 2);
  return element;
}

function id3v1(counter: number): Buffer {
  const tag = Buffer.alloc(128);
  tag.write(`TAGnumber ${counter}`, 0, 'latin1');
  return tag;
}

/** A packet of PID 0x1fff (ISO/IEC 13818-1 section 2.4.3) with the time stamp of 4 bytes that M2TS puts before each. */
function nullPacket(counter: number): Buffer {
  const packet = Buffer.alloc(192, 0xff);
  packet.writeUInt32BE(counter, 0);
  packet.writeUInt32BE(0x47_1f_ff_10, 4);
  packet.writeUInt32BE(counter, 8);
  return packet;
}

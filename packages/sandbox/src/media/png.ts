import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

export type Rgb = readonly [red: number, green: number, blue: number];

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly colorAt: (x: number, y: number) => Rgb;
}

/** The drawing as PNG: 8 bits a channel, RGB, no transparency (PNG specification, third edition, sections 5 and 11). */
export async function pngOf(drawing: Drawing): Promise<Buffer> {
  const { width, height } = drawing;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, COLOR_TYPE_RGB], 8);
  const pixels = await promisify(deflate)(scanlines(drawing));
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const COLOR_TYPE_RGB = 2;

/** Each line begins with its filter, 0 = none. */
function scanlines({ width, height, colorAt }: Drawing): Buffer {
  const lineBytes = 1 + width * 3;
  const bytes = Buffer.alloc(height * lineBytes);
  for (let y = 0; y < height; y += 1) {
    let at = y * lineBytes + 1;
    for (let x = 0; x < width; x += 1) for (const channel of colorAt(x, y)) bytes[at++] = channel;
  }
  return bytes;
}

function chunk(type: string, body: Buffer): Buffer {
  const typeAndBody = Buffer.concat([Buffer.from(type), body]);
  const bytes = Buffer.alloc(12 + body.length);
  bytes.writeUInt32BE(body.length, 0);
  bytes.set(typeAndBody, 4);
  bytes.writeUInt32BE(crc32(typeAndBody), 8 + body.length);
  return bytes;
}

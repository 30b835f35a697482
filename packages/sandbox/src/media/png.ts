import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';

export type Rgb = readonly [red: number, green: number, blue: number];

/** A picture of square cells, each in one colour. */
export interface Drawing {
  readonly columns: number;
  readonly rows: number;
  readonly cellPixels: number;
  readonly colorAt: (column: number, row: number) => Rgb;
  /** Name stored in the file's metadata, not visible in the picture. 1 to 79 characters of Latin-1. */
  readonly name: string;
}

/**
 * Encodes the drawing as PNG: 8 bits per channel, RGB, no transparency (PNG specification, third edition, sections 5
 * and 11).
 */
export async function pngOf(drawing: Drawing): Promise<Buffer> {
  const { columns, rows, cellPixels, name } = drawing;
  const header = Buffer.alloc(13);
  header.writeUInt32BE(columns * cellPixels, 0);
  header.writeUInt32BE(rows * cellPixels, 4);
  header.set([8, COLOR_TYPE_RGB], 8);
  const pixels = await promisify(deflate)(scanlines(drawing));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('tEXt', Buffer.from(`Title\0${name}`, 'latin1')),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const COLOR_TYPE_RGB = 2;
/** Scanline filters: NONE stores a line as it is, UP its difference from the line above. */
const NONE = 0;
const UP = 2;

/**
 * Returns the pixel lines, each preceded by its filter. Within a row of cells, all lines repeat the first, so the
 * others are only zeros to compress.
 */
function scanlines({ columns, rows, cellPixels, colorAt }: Drawing): Buffer {
  const lineBytes = 1 + columns * cellPixels * 3;
  const bytes = Buffer.alloc(rows * cellPixels * lineBytes);
  for (let line = 0; line < rows * cellPixels; line += 1) bytes[line * lineBytes] = line % cellPixels === 0 ? NONE : UP;
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) {
      const start = row * cellPixels * lineBytes + 1 + column * cellPixels * 3;
      bytes.fill(Buffer.from(colorAt(column, row)), start, start + cellPixels * 3);
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

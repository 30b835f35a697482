import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import { createHash } from 'node:crypto';
import { THUMBNAIL_SIZE } from './ffmpeg.ts';

type Rgb = readonly [red: number, green: number, blue: number];

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

/**
 * Draws the picture of a video without a still: a symmetric pattern in one colour, both derived from the id, so that
 * every run draws the same picture and each video gets its own. The picture is also named after the video, so that even
 * equal patterns yield different files.
 */
export function thumbnailDrawing(videoId: string): Drawing {
  const { width, height } = THUMBNAIL_SIZE;
  const size = { columns: width / THUMBNAIL_CELL, rows: height / THUMBNAIL_CELL, cellPixels: THUMBNAIL_CELL };
  return { ...size, colorAt: patternOf(videoId, size), name: videoId };
}

/**
 * Draws a channel's artwork: the same kind of pattern, with a margin. Podcast directories require a square of 1400 to
 * 3000 pixels, RGB without transparency.
 */
export function artworkDrawing(channelId: string): Drawing {
  const pattern = patternOf(channelId, { columns: 5, rows: 5 });
  const colorAt = (column: number, row: number) => pattern(column - 1, row - 1);
  return { columns: 7, rows: 7, cellPixels: 200, colorAt, name: channelId };
}

/** Cell size in pixels; a thumbnail has 16 by 9 cells. */
const THUMBNAIL_CELL = 80;

/** Derives a pattern from an id. Cells outside it have the background colour. */
function patternOf(id: string, { columns, rows }: Pick<Drawing, 'columns' | 'rows'>): Drawing['colorAt'] {
  const digest = createHash('sha256').update(id).digest();
  const ground = colorOf(digest.readUInt16BE(0) / 65_536, 0.28);
  const figure = colorOf(digest.readUInt16BE(0) / 65_536, 0.72);
  const half = Math.ceil(columns / 2);
  return (column, row) => {
    if (column < 0 || column >= columns || row < 0 || row >= rows) return ground;
    const bit = row * half + Math.min(column, columns - 1 - column);
    const isCenter = column === (columns - 1) / 2 && row === (rows - 1) / 2;
    return isCenter || ((digest.readUInt8(2 + (bit >> 3)) >> (bit & 7)) & 1) === 1 ? figure : ground;
  };
}

/** Returns a colour of medium saturation. @param hue 0 to 1 @param lightness 0 to 1 */
function colorOf(hue: number, lightness: number): Rgb {
  const channel = (offset: number): number => {
    const k = (offset + hue * 12) % 12; // HSL to RGB at saturation 0.55, CSS Color 4 section 7.1
    const chroma = 0.55 * Math.min(lightness, 1 - lightness);
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

import { createHash } from 'node:crypto';
import type { Drawing, Rgb } from './png.ts';
import { THUMBNAIL_SIZE } from './still.ts';

/**
 * The picture of a video without a still: a symmetric pattern in a colour, both drawn from the id, so that every run
 * makes the same and every video has another. It is named too, so that not even equal patterns would be equal files.
 */
export function thumbnailDrawing(videoId: string): Drawing {
  const { width, height } = THUMBNAIL_SIZE;
  const size = { columns: width / THUMBNAIL_CELL, rows: height / THUMBNAIL_CELL, cellPixels: THUMBNAIL_CELL };
  return { ...size, colorAt: patternOf(videoId, size), name: videoId };
}

/**
 * The artwork of a channel, made like that, with a margin. Podcast directories want a square of 1400 to 3000 pixels,
 * RGB without transparency.
 */
export function artworkDrawing(channelId: string): Drawing {
  const pattern = patternOf(channelId, { columns: 5, rows: 5 });
  const colorAt = (column: number, row: number) => pattern(column - 1, row - 1);
  return { columns: 7, rows: 7, cellPixels: 200, colorAt, name: channelId };
}

/** 16 by 9 of them make a thumbnail. */
const THUMBNAIL_CELL = 80;

/** Cells outside have the colour of the ground. */
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

/** @param hue 0 to 1 @param lightness 0 to 1 */
function colorOf(hue: number, lightness: number): Rgb {
  const channel = (offset: number): number => {
    const k = (offset + hue * 12) % 12; // HSL to RGB at saturation 0.55, CSS Color 4 section 7.1
    const chroma = 0.55 * Math.min(lightness, 1 - lightness);
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

import { createHash } from 'node:crypto';
import type { Drawing, Rgb } from './png.ts';
import { THUMBNAIL_SIZE } from './still.ts';

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

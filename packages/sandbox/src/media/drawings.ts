import { createHash } from 'node:crypto';
import type { Drawing, Rgb } from './png.ts';
import { THUMBNAIL_SIZE } from './still.ts';

/** The picture for videos without a still: grey, with hazard stripes and a crossed-out triangle. */
export function placeholderDrawing(): Drawing {
  const { width, height } = THUMBNAIL_SIZE;
  const colorAt = (x: number, y: number): Rgb => {
    if (y < EDGE || y >= height - EDGE) return (x + y) % 80 < 40 ? YELLOW : DARK;
    const right = x - width / 2;
    const down = y - height / 2;
    if (Math.abs(right + down) < 12 && Math.abs(right) < 160) return YELLOW;
    const isInTriangle = right > -90 && right < 130 && Math.abs(down) < (130 - right) * 0.6;
    return isInTriangle ? LIGHT : GREY;
  };
  return { width, height, colorAt };
}

/**
 * The artwork of a channel: a symmetric pattern in a colour, both drawn from its id, so that every run makes the same.
 * Podcast directories want a square of 1400 to 3000 pixels, RGB without transparency.
 */
export function artworkDrawing(channelId: string): Drawing {
  const digest = createHash('sha256').update(channelId).digest();
  const ground = colorOf(digest.readUInt16BE(0) / 65_536, 0.28);
  const figure = colorOf(digest.readUInt16BE(0) / 65_536, 0.72);
  const colorAt = (x: number, y: number): Rgb => {
    const column = Math.floor((x - MARGIN) / CELL);
    const row = Math.floor((y - MARGIN) / CELL);
    if (column < 0 || column > 4 || row < 0 || row > 4) return ground;
    const mirrored = Math.min(column, 4 - column);
    const isFilled = (digest.readUInt8(2 + row * 3 + mirrored) & 1) === 1;
    return isFilled || (row === 2 && column === 2) ? figure : ground;
  };
  return { width: ARTWORK_PIXELS, height: ARTWORK_PIXELS, colorAt };
}

const GREY: Rgb = [58, 62, 70];
const DARK: Rgb = [32, 34, 38];
const LIGHT: Rgb = [150, 156, 166];
const YELLOW: Rgb = [230, 184, 30];
const EDGE = 48;

const ARTWORK_PIXELS = 1400;
const CELL = 200;
const MARGIN = 200;

/** @param hue 0 to 1 @param lightness 0 to 1 */
function colorOf(hue: number, lightness: number): Rgb {
  const channel = (offset: number): number => {
    const k = (offset + hue * 12) % 12; // HSL to RGB at saturation 0.55, CSS Color 4 section 7.1
    const chroma = 0.55 * Math.min(lightness, 1 - lightness);
    return Math.round(255 * (lightness - chroma * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}

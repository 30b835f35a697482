import stringWidth from 'string-width';

const ELLIPSIS = '…';
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Columns that text takes in a terminal: emoji and CJK two, combining marks and colours none. */
export function displayWidth(text: string): number {
  return stringWidth(text);
}

/** Text without colours filled up with spaces, or left as it is when it is as wide already. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'right' ? spaces + text : text + spaces;
}

/** At most `width` columns of text without colours: `a-long-na…`. Characters are never halved. */
export function cutEnd(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  return width < 1 ? '' : takeStart(text, width - 1) + ELLIPSIS;
}

/** The same from the middle, for paths: both the folder and the name's end stay, `news/2026/…part-12.mp4`. */
export function cutMiddle(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  if (width < 1) return '';
  const end = takeEnd(text, Math.floor((width - 1) / 2));
  return takeStart(text, width - 1 - displayWidth(end)) + ELLIPSIS + end;
}

function takeStart(text: string, width: number): string {
  return take(segments(text), width).join('');
}

function takeEnd(text: string, width: number): string {
  return take(segments(text).toReversed(), width).toReversed().join('');
}

function take(parts: readonly string[], width: number): readonly string[] {
  let left = width;
  const taken: string[] = [];
  for (const part of parts) {
    left -= displayWidth(part);
    if (left < 0) break;
    taken.push(part);
  }
  return taken;
}

function segments(text: string): readonly string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

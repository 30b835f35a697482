import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';

/** Number of terminal columns that text occupies: two for emoji and CJK, none for combining marks and colours. */
export function displayWidth(text: string): number {
  return stringWidth(text);
}

/** Pads text without colours to `width` columns. Unchanged if it is already that wide. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'right' ? spaces + text : text + spaces;
}

/** Cuts text without colours to at most `width` columns: `a-long-na…`. Never splits a character. */
export function cutEnd(text: string, width: number): string {
  return cut(text, width, 'end');
}

/** Cuts text in the middle, for paths. Keeps the folder and the end of the name: `news/2026/…part-12.mp4`. */
export function cutMiddle(text: string, width: number): string {
  return cut(text, width, 'middle');
}

/**
 * Cuts text and measures the result. cli-truncate uses its own, older string-width: one in 200 hostile names (a flag
 * with a combining mark, stray Hangul) came out one column too wide, and a wrapped line breaks the live region. Results
 * that are still too wide are cut again, shorter.
 */
function cut(text: string, width: number, position: 'end' | 'middle'): string {
  if (width === Infinity) return text;
  let result = cliTruncate(text, width, { position });
  for (let less = width - 1; displayWidth(result) > width; less -= 1) result = cliTruncate(text, less, { position });
  return result;
}

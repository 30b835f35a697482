import cliTruncate from 'cli-truncate';
import stringWidth from 'string-width';

/** Columns that text takes in a terminal: two for emoji and CJK, none for combining marks and colours. */
export function displayWidth(text: string): number {
  return stringWidth(text);
}

/** Text without colours, padded with spaces to `width` columns; unchanged when it is already that wide. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'right' ? spaces + text : text + spaces;
}

/** At most `width` columns of text without colours: `a-long-na…`. Characters are never split. */
export function cutEnd(text: string, width: number): string {
  return cut(text, width, 'end');
}

/** The same, cut in the middle, for paths: the folder and the end of the name stay, `news/2026/…part-12.mp4`. */
export function cutMiddle(text: string, width: number): string {
  return cut(text, width, 'middle');
}

/**
 * cli-truncate measures with its own, older string-width: one in 200 hostile names (a flag with a combining mark, stray
 * Hangul) came out a column too wide, and a line that wraps breaks the live region. What is too wide by our measure is
 * cut again, shorter.
 */
function cut(text: string, width: number, position: 'end' | 'middle'): string {
  if (width === Infinity) return text;
  let result = cliTruncate(text, width, { position });
  for (let less = width - 1; displayWidth(result) > width; less -= 1) result = cliTruncate(text, less, { position });
  return result;
}

/** One line for a title or a tag: control characters and runs of white space become one space, the ends are trimmed. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/** Text that may have lines, for a description: line ends become `\n`, other control characters spaces, the ends are trimmed. */
export function manyLines(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/gu, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .trim();
}

/** What is not empty, each once, in the order it first comes. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== '');
}

/** A name out of a file or file system for a message: quoted, control characters escaped, cut at 120 characters. */
export function quoted(text: string): string {
  const chars = Array.from(text);
  return JSON.stringify(chars.length > 120 ? `${chars.slice(0, 119).join('')}…` : text);
}

import { quote } from '../log/unsafe-characters.ts';

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

/** The texts that are not empty, each once, in order of first appearance. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== '');
}

/** A name or key from a user's files, for a message: quoted, unsafe characters escaped, cut at 120 characters. */
export function quoted(text: string): string {
  const characters = Array.from(text);
  return quote(characters.length > 120 ? `${characters.slice(0, 119).join('')}…` : text);
}

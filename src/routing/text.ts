import { quote } from '../log/unsafe-characters.ts';

/** One line for a title or a tag: control characters and runs of white space become one space, the ends are trimmed. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/**
 * Whether a text has a visible character: not only spaces and characters without a shape (zero width, Hangul fillers,
 * tags).
 */
export function isVisible(text: string): boolean {
  return /[^\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{DI}\u2800]/u.test(text);
}

/**
 * A name as its writer typed it. Over SMB, a Mac writes the characters that Windows forbids in names as private-use
 * ones, and a Linux server stores these (Microsoft's Services for Macintosh, [MS-SFM]; Samba's `vfs_fruit`,
 * `fruit:encoding`).
 */
export function withoutSmbCharacters(name: string): string {
  return name.replace(/[\uF001-\uF029]/gu, (character) => {
    const code = character.charCodeAt(0) - 0xf000;
    return code < 0x20 ? String.fromCharCode(code) : (FORBIDDEN[code - 0x20] ?? character);
  });
}

/** U+F020 to U+F029; the last two are a space and a dot at the end of a name. */
const FORBIDDEN = '"*:<>?\\| .';

/**
 * Text that may have lines, for a description: line ends become `\n`, other control characters spaces, the ends are
 * trimmed.
 */
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

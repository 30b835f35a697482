import { quote } from '../log/unsafe-characters.ts';

/**
 * Makes text one line for a title or tag: control characters and runs of white space become one space, and the ends are
 * trimmed.
 */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}

/**
 * Whether text has a visible character, as opposed to only spaces and shapeless characters (zero width, Hangul fillers,
 * tags).
 */
export function isVisible(text: string): boolean {
  return /[^\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{DI}\u2800]/u.test(text);
}

/**
 * Restores a name as the user typed it. Over SMB, a Mac encodes the characters that Windows forbids in names as
 * private-use characters, and a Linux server stores them as they are (Microsoft's Services for Macintosh, [MS-SFM];
 * Samba's `vfs_fruit`, `fruit:encoding`).
 */
export function withoutSmbCharacters(name: string): string {
  return name.replace(/[\uF001-\uF029]/gu, (character) => {
    const code = character.charCodeAt(0) - 0xf000;
    return code < 0x20 ? String.fromCharCode(code) : (FORBIDDEN[code - 0x20] ?? character);
  });
}

/** Characters encoded as U+F020 to U+F029. The last two are a space and a dot at the end of a name. */
const FORBIDDEN = '"*:<>?\\| .';

/**
 * Cleans multi-line text for a description: line breaks become `\n`, other control characters become spaces, and the
 * ends are trimmed.
 */
export function manyLines(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/gu, '\n')
    .replace(/[^\P{Cc}\n\t]/gu, ' ')
    .trim();
}

/** The non-empty texts without duplicates, in order of first appearance. */
export function distinct(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== '');
}

/** Formats a name or key from a user's file for a message: quoted, unsafe characters escaped, cut to 120 characters. */
export function quoted(text: string): string {
  const characters = Array.from(text);
  return quote(characters.length > 120 ? `${characters.slice(0, 119).join('')}…` : text);
}

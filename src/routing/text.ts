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

/**
 * Normalises a name to Unicode form NFC. macOS writes `ü` as two characters and other systems as one, but both look the
 * same.
 */
export function composed(name: string): string {
  return name.normalize('NFC');
}

/** Normalises a name for comparisons that ignore case and Unicode form. */
export function folded(name: string): string {
  return name.normalize('NFC').toLowerCase().normalize('NFC');
}

/** The spellings of a name that programs write: unchanged, NFC and NFD. */
export function spellings(name: string): readonly string[] {
  return [...new Set([name, name.normalize('NFC'), name.normalize('NFD')])];
}

/** Unescapes entities in a single pass, so that `&amp;lt;` becomes `&lt;` and not `<`. */
export function unescapeXml(text: string): string {
  return text.replaceAll(
    /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot|apos));/giu,
    (entity, hex?: string, decimal?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? entity;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
    },
  );
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

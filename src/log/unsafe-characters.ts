import { unsafeCharacters } from '@dropcast/pages/unsafe-characters';

const SHORT: Readonly<Record<string, string>> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

/**
 * Text from outside (file names, titles, answers of the service) made safe for one line of a terminal or a log: unsafe characters
 * become `\n`, `\x1b`, `\u202e`, `\udb40\udc41`, which do nothing.
 */
export function escapeControls(text: string): string {
  return text.replace(unsafeCharacters, (character) => SHORT[character] ?? hexEscape(character));
}

/** The same for finished JSON: escapes what `JSON.stringify` lets through (DEL, C1, U+2028, bidi overrides). It stays the same JSON. */
export function escapeJson(json: string): string {
  return json.replace(unsafeCharacters, unicodeEscape);
}

/** Text in double quotes, with quotes, backslashes and unsafe characters escaped. */
export function quote(text: string): string {
  return escapeJson(JSON.stringify(text));
}

function hexEscape(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? String.raw`\x` + code.toString(16).padStart(2, '0') : unicodeEscape(character);
}

/** By its UTF-16 units, as JSON has it. */
function unicodeEscape(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => String.raw`\u` + character.charCodeAt(at).toString(16).padStart(4, '0'),
  ).join('');
}

/**
 * Every character that can end a line, move the cursor, switch colours or reorder text: C0 and C1 controls (ESC, NUL, CSI), line and
 * paragraph separators, bidirectional overrides and isolates, byte order marks, interlinear annotations, lone surrogates, and what
 * nobody sees: soft hyphens, spaces and joiners without width.
 * Left-to-right and right-to-left marks are safe: ordinary Arabic and Hebrew names contain them.
 *
 * Global: for `replace`, not for `test`, which would remember where it stopped.
 */
export const unsafeCharacters = /[\p{Cc}\p{Cs}\u00AD\u200B\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

/**
 * Text from outside (file names, titles, answers of the service) made safe for one line of a terminal or a log: unsafe characters
 * become `\n`, `\x1b`, `\u202e`, which do nothing.
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

function unicodeEscape(character: string): string {
  return String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0');
}

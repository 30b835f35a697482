/**
 * Everything that could end a line, move a cursor, switch colours or reorder text: C0 and C1 controls (ESC, NUL, CSI), line and
 * paragraph separators, bidirectional overrides and isolates, byte order marks, annotations, and halves of surrogate pairs.
 * Left to right and right to left marks stay: honest Arabic and Hebrew names hold them.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF\uFFF9-\uFFFB]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

/** Makes text safe to stand on one line of a terminal or a log: `\n`, `\x1b`, `\u202e` in place of what would act. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => SHORT[character] ?? hexEscape(character));
}

/** The same for finished JSON: what `JSON.stringify` lets through (DEL, C1, U+2028, bidi overrides) as `\uXXXX`, still the same JSON. */
export function escapeJson(json: string): string {
  return json.replace(UNSAFE, unicodeEscape);
}

/** Text in double quotes with every quote, backslash and control escaped. */
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

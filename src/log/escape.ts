/**
 * Everything that could end a line, move a cursor, switch colours, reorder text or stay invisible: C0 and C1 controls (ESC, NUL,
 * CSI), line and paragraph separators, bidirectional overrides and isolates, soft hyphens, spaces and joiners of no width, byte
 * order marks, annotations, and halves of surrogate pairs. Left-to-right and right-to-left marks and the joiners of emoji stay:
 * honest names hold them.
 */
const UNSAFE = /[\p{Cc}\p{Cs}\u00AD\u200B\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

/** Makes text safe to stand on one line of a terminal or a log: `\n`, `\x1b`, `\u202e` in place of what would act. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => SHORT[character] ?? hexEscape(character));
}

/** The same for finished JSON: what `JSON.stringify` lets through (DEL, C1, U+2028, bidi overrides) as `\uXXXX`, still the same JSON. */
export function escapeJson(json: string): string {
  return json.replace(UNSAFE, unicodeEscape);
}

/**
 * Text in double quotes with every quote, backslash and control escaped.
 *
 * @param limit characters to show at most; a longer text ends with `…`
 */
export function quote(text: string, limit = Infinity): string {
  const characters = text.length > limit ? Array.from(text) : [];
  const shown = characters.length > limit ? `${characters.slice(0, limit - 1).join('')}…` : text;
  return escapeJson(JSON.stringify(shown));
}

function hexEscape(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? String.raw`\x` + code.toString(16).padStart(2, '0') : unicodeEscape(character);
}

function unicodeEscape(character: string): string {
  return String.raw`\u` + character.charCodeAt(0).toString(16).padStart(4, '0');
}

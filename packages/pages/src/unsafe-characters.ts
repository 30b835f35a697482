/**
 * A visible character that is neither ASCII nor Latin. Only next to such a character do the invisible ones serve a
 * purpose.
 */
const other = String.raw`[^\p{ASCII}\p{Script=Latin}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}]`;
/** What may come between such a letter and a mark that belongs to it: the ` (2)` of a copy, or other marks. */
const plain = String.raw`[ -@\[-\x60{-~\u200E\u200F\u061C]{0,8}`;

/**
 * Matches every character of text from outside that can end a line, move the cursor, switch colours, reorder text or
 * make two names look alike: C0 and C1 controls (ESC, NUL, CSI), line and paragraph separators, interlinear
 * annotations, lone surrogates, and everything to which Unicode gives no shape (Default_Ignorable_Code_Point:
 * bidirectional overrides and isolates, byte order marks, soft hyphens, tags, Hangul fillers …), plus the two blank
 * letters that this property lacks, U+2800 and U+1D159.
 *
 * Excluded are those that ordinary names contain, where they have an effect: joiners and variation selectors after an
 * emoji or a letter of a script other than Latin, the selector in a keycap, and directional marks soon after such a
 * letter. What follows is not considered (except in a keycap), so text that is truncated after escaping stays safe.
 *
 * Has the global flag: use it with `replace`, not with `test`, which would remember its position.
 */
export const unsafeCharacters = new RegExp(
  [
    String.raw`[\p{Cc}\p{Cs}\u2028\u2029\u2800\uFFF9-\uFFFB\u{1D159}]`,
    [
      String.raw`(?!(?<=${other}\uFE0F?)[\u200C\u200D])`,
      String.raw`(?!(?<=${other})[\uFE00-\uFE0F\u180B-\u180F\u{E0100}-\u{E01EF}])`,
      String.raw`(?!\uFE0F\u20E3)`,
      String.raw`(?!(?<=${other}${plain})[\u200E\u200F\u061C])`,
      String.raw`\p{Default_Ignorable_Code_Point}`,
    ].join(''),
  ].join('|'),
  'gu',
);

const SHORT: Readonly<Record<string, string>> = { '\n': String.raw`\n`, '\r': String.raw`\r`, '\t': String.raw`\t` };

/**
 * Makes text from outside (file names, titles, answers of the service) safe for one line of a terminal or a log. Unsafe
 * characters become harmless escapes such as `\n`, `\x1b`, `\u202e` and `\udb40\udc41`.
 */
export function escapeControls(text: string): string {
  return text.replace(unsafeCharacters, (character) => SHORT[character] ?? hexEscape(character));
}

/**
 * Escapes the unsafe characters that `JSON.stringify` leaves in finished JSON (DEL, C1, U+2028, bidi overrides). The
 * JSON keeps its meaning.
 */
export function escapeJson(json: string): string {
  return json.replace(unsafeCharacters, unicodeEscape);
}

/** Puts text in double quotes and escapes quotes, backslashes and unsafe characters. */
export function quote(text: string): string {
  return escapeJson(JSON.stringify(text));
}

function hexEscape(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? String.raw`\x` + code.toString(16).padStart(2, '0') : unicodeEscape(character);
}

/** Escapes a character by its UTF-16 units, as in JSON. */
function unicodeEscape(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => String.raw`\u` + character.charCodeAt(at).toString(16).padStart(4, '0'),
  ).join('');
}

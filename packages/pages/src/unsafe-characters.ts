/**
 * A character that is neither ASCII nor Latin, and has a shape of its own. Only next to one do the invisible characters
 * have a use.
 */
const other = String.raw`[^\p{ASCII}\p{Script=Latin}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}]`;
/** What may lie between such a letter and a mark that belongs to it: the ` (2)` of a copy, other marks. */
const plain = String.raw`[ -@\[-\x60{-~\u200E\u200F\u061C]{0,8}`;

/**
 * Every character of text from outside that can end a line, move the cursor, switch colours, reorder text or make two
 * names look alike: C0 and C1 controls (ESC, NUL, CSI), line and paragraph separators, interlinear annotations, lone
 * surrogates, and all that Unicode gives no shape (Default_Ignorable_Code_Point: bidirectional overrides and isolates,
 * byte order marks, soft hyphens, tags, Hangul fillers …), with the two blank letters that this property lacks, U+2800
 * and U+1D159.
 *
 * Not those that ordinary names contain, where they have an effect: joiners and variation selectors after an emoji or a
 * letter of another script than Latin, the selector in a keycap, and directional marks soon after such a letter. What
 * follows does not count (except in a keycap): a text that is cut short after it was escaped stays safe.
 *
 * Global: for `replace`, not for `test`, which would remember where it stopped.
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
 * Text from outside (file names, titles, answers of the service) made safe for one line of a terminal or a log: unsafe
 * characters become `\n`, `\x1b`, `\u202e`, `\udb40\udc41`, which do nothing.
 */
export function escapeControls(text: string): string {
  return text.replace(unsafeCharacters, (character) => SHORT[character] ?? hexEscape(character));
}

/**
 * The same for finished JSON: escapes what `JSON.stringify` lets through (DEL, C1, U+2028, bidi overrides). It stays
 * the same JSON.
 */
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

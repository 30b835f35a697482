/**
 * Characters that XML 1.0 forbids even as references (section 2.2): control characters, lone surrogates, U+FFFE and
 * U+FFFF.
 */
const ILLEGAL_CHARACTERS = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

function withoutIllegalCharacters(text: string): string {
  return text.replaceAll(ILLEGAL_CHARACTERS, '');
}

/**
 * Makes a text safe for feeds: removes characters that XML forbids or that no program can display. The latter are
 * U+007F to U+009F and the non-characters (both discouraged in XML 1.0 section 2.2), and U+FFFD, the replacement for a
 * lost character; the W3C feed validator warns about all of them. U+0085, the mainframe line break, becomes an ordinary
 * line break.
 */
export function presentable(text: string): string {
  return withoutIllegalCharacters(text.replaceAll('\u0085', '\n')).replaceAll(UNPRESENTABLE, '');
}

const UNPRESENTABLE = /[\u007f-\u009f\ufffd]|\p{Noncharacter_Code_Point}/gu;

/** Returns a client's text on one line, trimmed; '' if nothing visible remains. */
export function lineOf(text: string): string {
  return presentable(text).replaceAll(/\s+/g, ' ').trim();
}

/**
 * Prepares plain text for an element that by definition holds no HTML, such as a title or a channel's description.
 * Readers still treat text with an end tag as HTML, and the W3C validator warns about it. In such text, each tag's `<`
 * gets a space after it, as in `< b>`, so that every reader shows the text as written.
 */
export function plainOf(text: string): string {
  const plain = trimmedLines(text);
  return /<\/\w+>/.test(plain) ? plain.replaceAll(/<(?=[a-z/])/gi, '< ') : plain;
}

function trimmedLines(text: string): string {
  return presentable(text).replaceAll(/\r\n?/g, '\n').trim();
}

/** Cuts a text to `maxCharacters` code points, so that no character is split; `…` marks the cut. */
export function clipped(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const characters = Array.from(text);
  if (characters.length <= maxCharacters) return text;
  return `${characters
    .slice(0, maxCharacters - 1)
    .join('')
    .trimEnd()}…`;
}

/** Cuts a text to `maxBytes` of UTF-8, so that no character is split; `…` marks the cut. */
export function clippedBytes(text: string, maxBytes: number): string {
  return Buffer.byteLength(text) <= maxBytes ? text : `${headOf(text, maxBytes).trimEnd()}…`;
}

/**
 * Converts plain text to HTML of at most `maxBytes` in UTF-8. An RSS 2.0 item's description is HTML by definition: if a
 * client's plain text were escaped for XML alone, `<b>` in it would turn bold, and `<script>` would do worse.
 */
export function htmlOf(text: string, maxBytes: number): string {
  const whole = trimmedLines(text).replaceAll(/[&<>"\n]/g, asHtml);
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  return `${headOf(whole, maxBytes)
    .replace(/(?:&[^;]*|<[^>]*)$/, '')
    .trimEnd()}…`;
}

/** Cuts a text so that `…` still fits in `maxBytes`. */
function headOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes - Buffer.byteLength('…'));
  return new TextDecoder().decode(bytes, { stream: true }); // leaves out half a character at the end
}

function asHtml(character: string): string {
  return HTML[character] ?? character;
}

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '<br>' };

/** Formats an RFC 822 date as RSS 2.0 requires: four-digit year, zone `GMT`. */
export function rssTime(atMs: number): string {
  return new Date(atMs).toUTCString();
}

/** Formats a time as Roku's feeds require, like `2026-01-31T12:00:00+00:00`: no fractions, numeric zone. */
export function zonedTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, '+00:00');
}

/** Formats the UTC date, like `2026-01-31`. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Rounds to whole seconds, at least one: readers reject fractions and zero. Undefined if unknown. */
export function wholeSeconds(durationS: number | null): number | undefined {
  return durationS === null ? undefined : Math.max(1, Math.round(durationS));
}

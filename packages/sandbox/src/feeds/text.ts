/**
 * What XML 1.0 cannot carry even as a reference (section 2.2): control characters, lone surrogates, U+FFFE and U+FFFF.
 */
export const ILLEGAL_CHARACTERS = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

export function withoutIllegalCharacters(text: string): string {
  return text.replaceAll(ILLEGAL_CHARACTERS, '');
}

/**
 * Makes a text safe for feeds: removes what XML forbids, and characters that XML permits and no program can display.
 * Those are U+007F to U+009F, the non-characters (both discouraged in XML 1.0 section 2.2), and U+FFFD, the replacement
 * of a lost character: the W3C's feed validator warns about them. The line break of mainframes, U+0085, becomes an
 * ordinary one.
 */
export function presentable(text: string): string {
  return withoutIllegalCharacters(text.replaceAll('\u0085', '\n')).replaceAll(UNPRESENTABLE, '');
}

const UNPRESENTABLE = /[\u007f-\u009f\ufffd]|\p{Noncharacter_Code_Point}/gu;

/** A client's text on one line, trimmed; '' if nothing visible is left. */
export function lineOf(text: string): string {
  return presentable(text).replaceAll(/\s+/g, ' ').trim();
}

/**
 * Plain text for an element that holds no HTML by definition, such as titles and the description of a channel. Readers
 * still take a text with an end tag for HTML, and the W3C's validator warns of it: in such a text a blank follows each
 * `<` of a tag, as in `< b>`, so that everybody shows it as it was written.
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
 * Plain text as HTML of at most so many bytes in UTF-8. The description of an item in RSS 2.0 is HTML by definition:
 * `<b>` in a client's plain text would be bold there, and `<script>` worse, if it were escaped for XML alone.
 */
export function htmlOf(text: string, maxBytes: number): string {
  const whole = trimmedLines(text).replaceAll(/[&<>"\n]/g, asHtml);
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  return `${headOf(whole, maxBytes)
    .replace(/(?:&[^;]*|<[^>]*)$/, '')
    .trimEnd()}…`;
}

/** What fits before a `…`. */
function headOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes)).subarray(0, maxBytes - Buffer.byteLength('…'));
  return new TextDecoder().decode(bytes, { stream: true }); // leaves out half a character at the end
}

function asHtml(character: string): string {
  return HTML[character] ?? character;
}

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\n': '<br>' };

/** RFC 822 as RSS 2.0 requires: a four-digit year and the zone `GMT`. */
export function rssTime(atMs: number): string {
  return new Date(atMs).toUTCString();
}

/** `2026-01-31T12:00:00+00:00`: the form that Roku's feeds spell out, without fractions and with a numeric zone. */
export function zonedTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, '+00:00');
}

/** `2026-01-31`, UTC. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Whole seconds, at least one: readers refuse fractions and zeros. Undefined if unknown. */
export function wholeSeconds(durationS: number | null): number | undefined {
  return durationS === null ? undefined : Math.max(1, Math.round(durationS));
}

/** What XML 1.0 cannot carry even as a reference (section 2.2): control characters, lone surrogates, U+FFFE and U+FFFF. */
export const ILLEGAL_CHARACTERS = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

export function withoutIllegalCharacters(text: string): string {
  return text.replaceAll(ILLEGAL_CHARACTERS, '');
}

/** A client's text on one line, trimmed; '' if nothing visible is left. */
export function lineOf(text: string): string {
  return withoutIllegalCharacters(text).replaceAll(/\s+/g, ' ').trim();
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

/**
 * Plain text as HTML of at most so many bytes in UTF-8. The description of RSS 2.0 is HTML by definition: `<b>` in a client's plain
 * text would be bold there, and `<script>` worse, if it were escaped for XML alone.
 */
export function htmlOf(text: string, maxBytes: number): string {
  const plain = withoutIllegalCharacters(text).replaceAll(/\r\n?/g, '\n').trim();
  const whole = plain.replaceAll(/[&<>"\n]/g, asHtml);
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  const bytes = Buffer.from(whole.slice(0, maxBytes)).subarray(0, maxBytes - Buffer.byteLength('…'));
  const kept = new TextDecoder().decode(bytes, { stream: true }); // leaves out half a character at the end
  return `${kept.replace(/(?:&[^;]*|<[^>]*)$/, '').trimEnd()}…`;
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

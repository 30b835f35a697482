/** Minimum wait, used when the service answers `0`. */
const leastMs = 1000;
/** Maximum wait, 24.8 days: a Node timer with a longer delay fires immediately. */
const mostMs = 2_147_483_647;

/**
 * Parses the wait that a response asks for: `Retry-After` (RFC 9110 section 10.2.3) in seconds or as an HTTP date. A
 * date is relative to the response's own `Date`, so the two clocks need not agree.
 *
 * @param retryAfter the header as received
 * @param date the response's `Date` header; if missing or invalid, `nowMs` replaces it
 * @param nowMs wall clock, epoch milliseconds
 * @returns milliseconds, 1,000 to 2,147,483,647; undefined if the header is absent, negative or invalid
 */
export function parseRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  nowMs: number,
): number | undefined {
  const text = retryAfter?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return within(Number(text) * 1000);
  const until = parseHttpDate(text);
  if (until === undefined) return undefined;
  return within(until - (parseHttpDate(date) ?? nowMs));
}

function within(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), leastMs), mostMs);
}

/**
 * Parses the three date forms of RFC 9110 section 5.6.7. `Date.parse` accepts far more (`-1` as a year), so the text
 * must start with a day name and end in GMT. C's asctime form has no zone and means GMT.
 */
export function parseHttpDate(text: string | undefined): number | undefined {
  const date = text?.trim() ?? '';
  if (!/^(?:mon|tue|wed|thu|fri|sat|sun)/i.test(date)) return undefined;
  const isAsctime = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i.test(date);
  if (!isAsctime && !/^[a-z]+, .*\bGMT$/i.test(date)) return undefined;
  const time = Date.parse(isAsctime ? `${date} GMT` : date);
  return Number.isNaN(time) ? undefined : time;
}

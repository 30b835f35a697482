/** A service that says `0` still wants a pause. */
const leastMs = 1000;

/** The longest wait that the daemon believes: a service that says a day is asked hourly. */
const mostMs = 3_600_000;

/**
 * How long an answer asks to wait: `Retry-After` (RFC 9110 10.2.3) as seconds or as an HTTP date. A date is taken relative to
 * the `Date` of the same answer, so that the two clocks need not agree.
 *
 * @param retryAfter the header as it came
 * @param date the `Date` header of the same answer; if it is missing or garbage `nowMs` stands in
 * @param nowMs wall clock, epoch milliseconds
 * @returns milliseconds, at least 1,000, and as many as were asked for; undefined if absent, negative or garbage
 */
export function parseRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  nowMs: number,
): number | undefined {
  const text = retryAfter?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return atLeast(Number(text) * 1000);
  const until = parseHttpDate(text);
  if (until === undefined) return undefined;
  return atLeast(until - (parseHttpDate(date) ?? nowMs));
}

/** Forces a wait into what the daemon believes: 1 s to 1 h. */
export function clampWait(ms: number): number {
  return Math.min(atLeast(ms), mostMs);
}

function atLeast(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), leastMs), Number.MAX_SAFE_INTEGER);
}

/**
 * All three forms that have to be taken (RFC 9110 5.6.7), and no more than `Date.parse`, which takes `-1` for a year: they
 * start with the name of a day, and end in GMT, but for that of C's asctime, which means it.
 */
function parseHttpDate(text: string | undefined): number | undefined {
  const date = text?.trim() ?? '';
  if (!/^(?:mon|tue|wed|thu|fri|sat|sun)/i.test(date)) return undefined;
  const isAsctime = /^[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/i.test(date);
  if (!isAsctime && !/^[a-z]+, .*\bGMT$/i.test(date)) return undefined;
  const time = Date.parse(isAsctime ? `${date} GMT` : date);
  return Number.isNaN(time) ? undefined : time;
}

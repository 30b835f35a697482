/** The shortest and longest wait that is believed. A service that says `0` still wants a pause; one that says a day is asked hourly. */
export const retryAfterBounds = { leastMs: 1000, mostMs: 3_600_000 } as const;

/**
 * How long an answer asks to wait: `Retry-After` (RFC 9110 10.2.3) as seconds or as an HTTP date. A date is taken relative to
 * the `Date` of the same answer, so that the two clocks need not agree.
 *
 * @param retryAfter the header as it came
 * @param date the `Date` header of the same answer; if it is missing or garbage `nowMs` stands in
 * @param nowMs wall clock, epoch milliseconds
 * @returns milliseconds, 1,000 to 3,600,000; undefined if absent, negative or garbage
 */
export function parseRetryAfter(
  retryAfter: string | undefined,
  date: string | undefined,
  nowMs: number,
): number | undefined {
  const text = retryAfter?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return clampWait(Number(text) * 1000);
  const until = parseHttpDate(text);
  if (until === undefined) return undefined;
  return clampWait(until - (parseHttpDate(date) ?? nowMs));
}

/** Forces a wait into the bounds above. */
export function clampWait(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), retryAfterBounds.leastMs), retryAfterBounds.mostMs);
}

/** Stricter than `Date.parse`, which takes `-1` for a year: an HTTP date starts with the name of a day and ends in GMT. */
function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined || !/^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*, .*\bGMT$/i.test(text.trim())) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

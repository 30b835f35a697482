/**
 * Returns whether a text is a valid RFC 822 date with a four-digit year, as RSS 2.0 requires. `UTC+0` and place names
 * are not zones, and 31 January 2026 is not a Monday.
 */
export function isRssDate(text: string): boolean {
  const [, whenLocal = '', zone = ''] = FORM.exec(text) ?? [];
  const at = new Date(`${whenLocal} GMT`);
  return !Number.isNaN(at.getTime()) && at.toUTCString() === `${whenLocal} GMT` && isZone(zone);
}

const FORM = /^((?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2}) (GMT|[+-]\d{4})$/;

/** Accepts `GMT` and offsets from UTC-12 to UTC+14 with at most 59 minutes. */
function isZone(zone: string): boolean {
  return zone === 'GMT' || /^(?:-(?:0\d|1[0-2])|\+(?:0\d|1[0-4]))[0-5]\d$/.test(zone);
}

/** A calendar day; months start at 1. */
export interface Day {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

export function dayIn(zone: string, atMs: number): Day {
  const wall = new Date(wallClock(zone, atMs));
  return { year: wall.getUTCFullYear(), month: wall.getUTCMonth() + 1, day: wall.getUTCDate() };
}

/** Adds days to a date; a negative number subtracts them. */
export function plusDays({ year, month, day }: Day, days: number): Day {
  const at = new Date(Date.UTC(year, month - 1, day + days));
  return { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: at.getUTCDate() };
}

/** Returns the day of the week; 0 is Sunday. */
export function weekday({ year, month, day }: Day): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay();
}

export function dayName({ year, month, day }: Day): string {
  return new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);
}

/**
 * Returns the first moment of a day at which a clock in this zone shows the given time or a later one. For a time that
 * daylight saving skips, that is the moment of the change; for a time that it repeats, the first of the two.
 *
 * @param minutes since midnight
 * @returns epoch milliseconds
 */
export function momentIn(zone: string, { year, month, day }: Day, minutes: number): number {
  const wanted = Date.UTC(year, month - 1, day) + minutes * minuteMs;
  // The offsets a day earlier and later cover every candidate: no offset exceeds a day, and no change sets the clock
  // back by more than a few hours.
  const offsets = [wanted - dayMs, wanted + dayMs].map((at) => wallClock(zone, at) - at);
  const moments = offsets.map((offset) => wanted - offset).filter((at) => wallClock(zone, at) === wanted);
  if (moments.length > 0) return Math.min(...moments);
  let [before, after] = [wanted - Math.max(...offsets), wanted - Math.min(...offsets)];
  while (after - before > minuteMs) {
    const middle = before + Math.floor((after - before) / 2 / minuteMs) * minuteMs;
    if (wallClock(zone, middle) < wanted) before = middle;
    else after = middle;
  }
  return after;
}

/** Returns the local time in the zone, encoded as if it were UTC. */
function wallClock(zone: string, atMs: number): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second')) + mod(atMs, 1_000);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Caches formatters, that of the machine's own zone for a name that Intl does not take: creating one takes a hundred times as long as using it. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const two = '2-digit' as const;
  const format = new Intl.DateTimeFormat('en-US', {
    ...(isKnown(timeZone) && { timeZone }),
    hourCycle: 'h23',
    year: 'numeric',
    month: two,
    day: two,
    hour: two,
    minute: two,
    second: two,
  });
  formats.set(timeZone, format);
  return format;
}

/** Whether Intl takes a zone's name. The machine's own may have none (TZ=""), and a row may have one from another host. */
function isKnown(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).format(0) !== '';
  } catch {
    return false;
  }
}

function mod(value: number, by: number): number {
  return ((value % by) + by) % by;
}

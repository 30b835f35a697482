import { type Parsed, refused } from './parsed.ts';

/**
 * A part of each day in this machine's local time, in minutes since midnight. Includes `from` and excludes `to`;
 * crosses midnight if `to` is not after `from`.
 */
export interface DayWindow {
  readonly from: number;
  readonly to: number;
}

export const WINDOW_FORM = 'two times of day in quotes, like "08:00-18:00" or "20:00-06:00"';

const WINDOW = /^(\d{1,2}):(\d{2}) ?- ?(\d{1,2}):(\d{2})$/;
const DAY = 24 * 60;

/** Parses `uploads.window`: a window, or `always`, which becomes null. */
export function parseUploadWindow(text: string): Parsed<DayWindow | null> {
  return text === 'always' ? { ok: true, value: null } : parseWindow(text);
}

/** Parses a window such as `08:00-18:00`. The end may be `24:00`. */
export function parseWindow(text: string): Parsed<DayWindow> {
  const [fromHour = NaN, fromMinute = NaN, toHour = NaN, toMinute = NaN] =
    WINDOW.exec(text)?.slice(1).map(Number) ?? [];
  const from = fromHour * 60 + fromMinute;
  const to = toHour * 60 + toMinute;
  const isTime = from < DAY && to <= DAY && fromMinute < 60 && toMinute < 60;
  if (!isTime) return refused(`not a part of the day; write ${WINDOW_FORM}`);
  if (from === to) return refused('begins and ends at the same time; write "00:00-24:00" for the whole day');
  return { ok: true, value: { from, to } };
}

export const TIME_FORM = 'a time of day in quotes, like "18:30"';

/** Parses a time such as `18:30` as minutes since midnight. */
export function parseTimeOfDay(text: string): Parsed<number> {
  const [hour = NaN, minute = NaN] = /^(\d{1,2}):(\d{2})$/.exec(text)?.slice(1).map(Number) ?? [];
  if (hour < 24 && minute < 60) return { ok: true, value: hour * 60 + minute };
  return refused(`not a time of day; write ${TIME_FORM}`);
}

export const RESET_FORM = 'a time of day in quotes, and its time zone, like "00:00 America/Los_Angeles" or "00:00"';

/** Parses `00:00 America/Los_Angeles` or `00:00`. A null zone is this machine's time zone. */
export function parseReset(text: string): Parsed<{ readonly minutes: number; readonly zone: string | null }> {
  const [time = '', zone = null, ...more] = text.split(' ');
  const minutes = parseTimeOfDay(time);
  if (!minutes.ok || more.length > 0) return refused(`not a time; write ${RESET_FORM}`);
  if (zone !== null && !isTimeZone(zone)) return refused(`${zone} is not a time zone; write it like Europe/Berlin`);
  return { ok: true, value: { minutes: minutes.value, zone } };
}

/** Whether a text is the name of a time zone, such as `Europe/Berlin`. */
export function isTimeZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const WEEK = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

export const DAYS_FORM = 'daily, a range like mon-fri, or days like mon,wed,fri';

/** Parses `daily`, `mon-fri`, `fri-mon` or `mon,wed,sat-sun` as days of the week, where 0 is Sunday. */
export function parseDays(text: string): Parsed<readonly number[]> {
  if (text === 'daily') return { ok: true, value: [0, 1, 2, 3, 4, 5, 6] };
  const days = new Set<number>();
  for (const part of text.toLowerCase().split(',')) {
    const [first = -1, last = first] = part.split('-').map((day) => WEEK.indexOf(day.trim() as (typeof WEEK)[number]));
    if (first === -1 || last === -1 || part.split('-').length > 2)
      return refused(`not days of the week; write ${DAYS_FORM}`);
    for (let day = first; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === last) break;
    }
  }
  return { ok: true, value: [...days].toSorted((one, other) => one - other) };
}

/** Whether two windows share any minute of the day. */
export function doOverlap(one: DayWindow, other: DayWindow): boolean {
  return spansOf(one).some(([from, to]) => spansOf(other).some((span) => from < span[1] && span[0] < to));
}

/**
 * Whether a time falls within the window by the wall clock. An hour that daylight saving skips is in no window that
 * day; a repeated hour is in its window both times.
 *
 * @param atMs epoch milliseconds
 */
export function isInWindow(window: DayWindow, atMs: number): boolean {
  const at = new Date(atMs);
  const minute = at.getHours() * 60 + at.getMinutes();
  return spansOf(window).some(([from, to]) => from <= minute && minute < to);
}

function spansOf({ from, to }: DayWindow): readonly (readonly [number, number])[] {
  if (from < to) return [[from, to]];
  return [
    [from, DAY],
    [0, to],
  ];
}

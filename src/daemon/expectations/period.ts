import type { Expectation } from '../../config/config.ts';
import { dayIn, dayName, momentIn, plusDays, weekday } from './zoned-time.ts';
import type { Day } from './zoned-time.ts';

/** One day on which files are expected. Times are epoch milliseconds. */
export interface Period {
  /** `2026-11-22`: the day of `by`. */
  readonly day: string;
  /** Files that came in at this time or later count for it. */
  readonly from: number;
  readonly by: number;
  /** From then on they count for the next one: what is late may come until then. */
  readonly end: number;
}

/** Days between two expected ones, at most. */
const week = 7;

/** Pure: the period that this moment is in: the last one that has begun. What is expected on some day is in one nearly always. */
export function periodAt(expectation: Omit<Expectation, 'match'>, atMs: number): Period {
  const zone = expectation.zone ?? new Intl.DateTimeFormat('en').resolvedOptions().timeZone;
  const today = dayIn(zone, atMs);
  const days = Array.from({ length: 2 * week + 5 }, (_, n) => plusDays(today, n - week - 2));
  const expected = days.filter((day) => expectation.days.includes(weekday(day)));
  const begins = expected.map((day) => beginOf(expectation, zone, day));
  const current = Math.max(
    0,
    begins.findLastIndex((begin) => begin <= atMs),
  );
  const day = expected[current] ?? today;
  return {
    day: dayName(day),
    from: begins[current] ?? atMs,
    by: momentIn(zone, day, expectation.by),
    end: begins[current + 1] ?? Infinity,
  };
}

function beginOf({ from, by }: Omit<Expectation, 'match'>, zone: string, day: Day): number {
  return momentIn(zone, from < by ? day : plusDays(day, -1), from);
}

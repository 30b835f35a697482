/** A range of days in UTC, `YYYY-MM-DD`, both inclusive (api-spec section 2.5). */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/**
 * A period in ms since 1970, from the start of its first day to the end of its last: `fromMs` inclusive, `beforeMs`
 * exclusive.
 */
interface Span {
  readonly fromMs: number;
  readonly beforeMs: number;
}

/**
 * assumed: the specification gives no default (api-spec section 4.5). 30 days, ending today or on the requested day.
 */
const DEFAULT_DAYS = 30;

/** assumed: at most a leap year. */
export const MAX_DAYS = 366;

export interface AskedPeriod {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Fills in the days that the request omits. The requested ones must exist in the calendar. */
export function periodOf(asked: AskedPeriod, nowMs: number): Period {
  const to = asked.to ?? dayOf(nowMs);
  return { from: asked.from ?? dayOf(startOf(to) - (DEFAULT_DAYS - 1) * DAY_MS), to };
}

/** @returns the number of days, 0 or less if the period ends before it starts */
export function dayCount(period: Period): number {
  const { fromMs, beforeMs } = spanOf(period);
  return (beforeMs - fromMs) / DAY_MS;
}

export function spanOf({ from, to }: Period): Span {
  return { fromMs: startOf(from), beforeMs: startOf(to) + DAY_MS };
}

/** Returns every day of the period, in order. */
export function daysOf(period: Period): string[] {
  const { fromMs } = spanOf(period);
  return Array.from({ length: Math.max(0, dayCount(period)) }, (_, index) => dayOf(fromMs + index * DAY_MS));
}

/** @param atMs ms since 1970 */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

export const DAY_MS = 86_400_000;

function startOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

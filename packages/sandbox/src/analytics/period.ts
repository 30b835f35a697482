/** Days in UTC, `YYYY-MM-DD`, both included (api-spec section 2.5). */
export interface Period {
  readonly from: string;
  readonly to: string;
}

/**
 * From the first millisecond of the first day to the last of the last: `fromMs` included, `beforeMs` not; ms since
 * 1970.
 */
export interface Span {
  readonly fromMs: number;
  readonly beforeMs: number;
}

/** assumed: no default is given (api-spec section 4.5). 30 days that end today, or on the requested day. */
export const DEFAULT_DAYS = 30;

/** assumed: a leap year. */
export const MAX_DAYS = 366;

export interface AskedPeriod {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Fills in what was not asked for. The days must be real ones. */
export function periodOf(asked: AskedPeriod, nowMs: number): Period {
  const to = asked.to ?? dayOf(nowMs);
  return { from: asked.from ?? dayOf(startOf(to) - (DEFAULT_DAYS - 1) * DAY_MS), to };
}

/** @returns how many days the period has, 0 or less when it ends before it begins. */
export function dayCount(period: Period): number {
  const { fromMs, beforeMs } = spanOf(period);
  return (beforeMs - fromMs) / DAY_MS;
}

export function spanOf({ from, to }: Period): Span {
  return { fromMs: startOf(from), beforeMs: startOf(to) + DAY_MS };
}

/** Every day of the period, in order. */
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

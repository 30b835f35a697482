import type { RateLimitReport } from '@dropcast/client';
import type { RequestPriority } from '../pipeline/file/ports.ts';

/** A limit that the service reported with an answer. It only ever lowers the budget. */
export interface ReportedLimit {
  readonly name: string;
  /**
   * The budget's `total` at which the limit is used up, so that requests of all hosts count. 0 if the service itself
   * reported that nothing is left.
   */
  readonly usedUpAt: number;
  /** The reset, in the budget's time (epoch milliseconds). */
  readonly until: number;
}

/** Remaining requests of a reported limit, and the time to its reset. */
export interface ReportedRoom {
  readonly left: number;
  readonly inMs: number;
}

const hourMs = 3_600_000;
/** Services report one or two limits. More names than this are limits that changed, or nonsense. */
const mostLimits = 8;

/**
 * Converts a report, received now, to limits. A policy whose remaining requests are not reported starts a window only
 * if none is known. Pure.
 *
 * @param now.total number of requests so far, including the reporting one
 */
export function limitsOf(
  { limits, unanswered }: Pick<RateLimitReport, 'limits' | 'unanswered'>,
  known: readonly ReportedLimit[],
  now: { readonly total: number; readonly nowMs: number },
): readonly ReportedLimit[] {
  const current = new Set(unexpired(known, now.nowMs).map(({ name }) => name));
  return limits
    .filter(({ name, isPolicyOnly }) => !isPolicyOnly || !current.has(name))
    .map(({ name, remaining, resetMs }) => ({
      name,
      usedUpAt: remaining === 0 ? 0 : now.total + Math.max(0, remaining - unanswered),
      until: now.nowMs + resetMs,
    }));
}

/**
 * Adds newer limits to those known. A newer one replaces one of the same name, except that a limit of which the service
 * reported nothing left stays until its reset. Pure.
 */
export function withNewer(known: readonly ReportedLimit[], newer: readonly ReportedLimit[]): readonly ReportedLimit[] {
  const byName = new Map(known.map((limit) => [limit.name, limit]));
  for (const limit of newer) {
    if (byName.get(limit.name)?.usedUpAt === 0) continue;
    byName.delete(limit.name);
    byName.set(limit.name, limit);
  }
  return [...byName.values()].slice(-mostLimits);
}

/** Returns the limits whose reset has not come. Pure. */
export function unexpired(limits: readonly ReportedLimit[], nowMs: number): readonly ReportedLimit[] {
  return limits.filter(({ until }) => until > nowMs);
}

/**
 * Returns how long a request must wait for the reset of a limit, in milliseconds; 0 if all limits have room. The last
 * request is kept for finishing, and the one before it for polls, because a reset may be far away. Pure.
 */
export function untilReset(
  limits: readonly ReportedLimit[],
  total: number,
  { nowMs, priority }: { readonly nowMs: number; readonly priority: RequestPriority },
): number {
  const waits = limits.map(({ usedUpAt, until }) => (usedUpAt - total > kept[priority] ? 0 : until - nowMs));
  return Math.max(0, ...waits);
}

/** Number of requests that each priority leaves for higher priorities. */
const kept: Readonly<Record<RequestPriority, number>> = { finish: 0, poll: 1, create: 2 };

/**
 * Returns the room in the limit that allows the fewest requests per time, of those that are not used up; null without
 * one. Pure.
 */
export function strictestRoom(limits: readonly ReportedLimit[], total: number, nowMs: number): ReportedRoom | null {
  const rooms = limits.map(({ usedUpAt, until }) => ({ left: usedUpAt - total, inMs: until - nowMs }));
  const open = rooms.filter(({ left }) => left > 0);
  return open.toSorted((one, other) => perHour(one) - perHour(other))[0] ?? null;
}

/**
 * Returns how many requests a limit allows within an hour. A limit that resets within seconds limits the hour little,
 * however few requests are left of it. Pure.
 */
export function perHour({ left, inMs }: ReportedRoom): number {
  return Math.floor(left * (hourMs / inMs));
}

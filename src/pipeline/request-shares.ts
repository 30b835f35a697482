import type { RequestRoom } from './estimate.ts';

/**
 * Returns how many of an hour's requests are reserved for finishing work in progress. The same number is reserved for
 * polls. Each share is a hundredth of the limit and at least two; for a tiny limit, a tenth. Pure.
 *
 * @param limit requests per hour
 */
export function keptRequests(limit: number): number {
  return Math.min(Math.max(1, Math.round(limit / 10)), Math.max(2, Math.round(limit / 100)));
}

/** The other needs for requests this hour, not counting polls. */
export interface Wanted {
  /** Number of records that can be created within the hour. */
  readonly creates: number;
  readonly publishes: number;
}

/**
 * Returns how many requests are spare this hour. Pure.
 *
 * @param left requests that may be sent now, before any earlier request drops out of the hourly limit
 */
export function freeRequests(left: number, limit: number, { creates, publishes }: Wanted): number {
  const kept = keptRequests(limit);
  const toFinish = Math.max(publishes, kept);
  return left - toFinish - Math.min(creates, Math.max(0, left - kept - toFinish));
}

/** Share of the hour's requests that work without urgency leaves to uploads and polls. */
const untouched = 0.5;

/**
 * Whether a request without urgency may be sent. Files that arrive next find half of the hour's requests, and the sweep
 * polls as if nothing else were sent. Pure.
 */
export function hasSpareRequest({ left, limit, closedMs }: RequestRoom, wanted: Wanted): boolean {
  return closedMs === 0 && freeRequests(left, limit, wanted) > limit * untouched;
}

/** Returns how long this many requests without urgency take, in hours. Pure. */
export function spareHours(requests: number, limit: number): number {
  return requests / (limit * untouched);
}

export interface PollPace {
  /** Interval between two sweeps, in milliseconds. */
  readonly everyMs: number;
  /** Maximum number of list pages read per sweep. */
  readonly pages: number;
  /** Maximum number of single-video polls of each kind per sweep. */
  readonly singles: number;
  /** Whether the budget allows every poll that a sweep could want. */
  readonly isFree: boolean;
}

const hourMs = 3_600_000;

/**
 * Share of the hour's requests that must be free for a sweep to poll everything: on its own schedule (`byItself`), and
 * after a webhook (`rung`).
 */
const plenty = { byItself: 0.5, rung: 0.9 } as const;

/** Long-term share of an hour's requests that webhooks may use. */
const rungShare = 0.25;

/** Share of the hour's polls that one sweep may spend on single videos. */
const singlesShare = 0.25;

/**
 * Decides how spare requests are spent on polls. While there are plenty, every sweep polls everything. Below that, the
 * rest is spread over an hour so that it never runs out: each request makes the next sweep a little later, and one
 * sweep reads only the pages in its share. Pure.
 *
 * @param of.intervalMs minimum interval between two sweeps
 * @param of.spent requests used by the last sweep
 */
export function pollPace(of: {
  readonly room: RequestRoom;
  readonly wanted: Wanted;
  readonly intervalMs: number;
  readonly spent: number;
  readonly cause?: keyof typeof plenty;
}): PollPace {
  const { room, intervalMs, cause = 'byItself' } = of;
  const free = freeRequests(room.left, room.limit, of.wanted);
  if (room.closedMs === 0 && free >= room.limit * plenty[cause])
    return { everyMs: intervalMs, pages: Infinity, singles: Infinity, isFree: true };
  const most = cause === 'rung' ? room.limit * rungShare : Infinity;
  const perHour = Math.max(1, Math.min(free, most));
  return {
    everyMs: Math.max(intervalMs, (Math.max(1, of.spent) * hourMs) / perHour),
    pages: Math.max(1, Math.floor((intervalMs * perHour) / hourMs)),
    singles: Math.max(1, Math.floor(perHour * singlesShare)),
    isFree: false,
  };
}

/** Longest time that a file's age alone delays its poll. */
const mostEarlyMs = 10 * 60_000;

/**
 * Returns how long to wait before the first poll when the budget is short: half the usual processing time, at most ten
 * minutes. Pure.
 *
 * @param oldestMs how long the oldest file has been in processing
 * @returns milliseconds
 */
export function tooEarlyMs(oldestMs: number, usualMs: number | null): number {
  return Math.max(0, Math.min(mostEarlyMs, (usualMs ?? 0) / 2) - oldestMs);
}

import type { RequestRoom } from './estimate.ts';

/**
 * Pure: how many of an hour's requests are kept for finishing what was begun, and as many again for asking how far it is: a hundredth,
 * at least two, and of a tiny limit a tenth.
 *
 * @param limit requests per hour
 */
export function keptRequests(limit: number): number {
  return Math.min(Math.max(1, Math.round(limit / 10)), Math.max(2, Math.round(limit / 100)));
}

/** What needs requests of this hour beside asking how far the videos are. */
export interface Wanted {
  /** Records that can be created within the hour. */
  readonly creates: number;
  /** Feeds that wait to be published. */
  readonly publishes: number;
}

/**
 * Pure: requests of this hour that nothing else needs.
 *
 * @param left requests that may leave before any fall out of the hour
 */
export function freeRequests(left: number, limit: number, { creates, publishes }: Wanted): number {
  const kept = keptRequests(limit);
  const toFinish = Math.max(publishes, kept);
  return left - toFinish - Math.min(creates, Math.max(0, left - kept - toFinish));
}

/** How far and how often the sweep may ask. */
export interface PollPace {
  /** Between two sweeps, in milliseconds. */
  readonly everyMs: number;
  /** Pages of the list that one sweep reads at most. */
  readonly pages: number;
  /** Questions for single videos, of each kind, that one sweep may ask. */
  readonly singles: number;
  /** The budget allows everything that a sweep could ask for. */
  readonly isFree: boolean;
}

const hourMs = 3_600_000;

/** The share of the hour that has to be free for a sweep to ask for everything: of its own accord, and after a webhook. */
const plenty = { byItself: 0.5, rung: 0.9 } as const;

/** The share of an hour that webhooks may use in the long run. */
const rungShare = 0.25;

/** The share of the hour's polls that one sweep may spend on single videos. */
const singlesShare = 0.25;

/**
 * Pure: how the requests that nothing else needs are spent on asking how far the videos are. While there are plenty, all are asked about
 * at every interval. Then what is left is spread over an hour, so that it never runs out: each request makes the next a little rarer, and
 * one sweep reads only as many pages as come to it.
 *
 * @param of.intervalMs between two sweeps at least
 * @param of.spent requests that the last sweep took
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

/** The longest that a file in processing is not asked about for its age alone. */
const mostEarlyMs = 10 * 60_000;

/**
 * Pure: how long to wait before the first poll when the budget is short: half the usual processing time, at most ten minutes.
 *
 * @param oldestMs how long the oldest file has been in processing
 * @returns milliseconds
 */
export function tooEarlyMs(oldestMs: number, usualMs: number | null): number {
  return Math.max(0, Math.min(mostEarlyMs, (usualMs ?? 0) / 2) - oldestMs);
}

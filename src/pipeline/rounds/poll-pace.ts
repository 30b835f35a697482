import type { RequestRoom } from '../estimate.ts';
import { freeRequests } from '../request-shares.ts';
import type { Wanted } from '../request-shares.ts';

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

/** Of what may be asked within the hour, the share that one sweep may spend on single videos. */
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
 * Pure: how long it is still too early to ask where the budget is short: no file is asked about before half the time that processing
 * usually takes, at most ten minutes.
 *
 * @param oldestMs how long the oldest file has been in processing
 * @returns milliseconds
 */
export function tooEarlyMs(oldestMs: number, usualMs: number | null): number {
  return Math.max(0, Math.min(mostEarlyMs, (usualMs ?? 0) / 2) - oldestMs);
}

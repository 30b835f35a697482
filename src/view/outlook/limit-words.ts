import type { Backlog, Limit, Pace } from '../../pipeline/estimate.ts';
import type { Pause } from '../../pipeline/events.ts';
import { rate, size, clockTime } from '../words/text.ts';

interface About {
  readonly backlog: Backlog;
  readonly pace: Pace;
  readonly pause: Pick<Pause, 'why'> | null;
  readonly nowMs: number;
}

/** Names the backlog's bottleneck, as a sentence without its full stop; null when nothing is waiting. Pure. */
export function limitSentence({
  limited_by: limit,
  why,
}: {
  readonly limited_by: Limit;
  readonly why: string;
}): string | null {
  const name = names[limit];
  if (name === null) return null;
  return why === '' ? name : `${name}: ${why}`;
}

const names: Readonly<Record<Limit, string | null>> = {
  'upload bandwidth': 'Limited by upload bandwidth',
  'upload slots': 'Limited by upload slots',
  'upload window': 'Limited by uploads.window',
  'request budget': 'Limited by the request budget',
  quota: 'Limited by service.quota',
  'processing at the service': 'Limited by processing at the service',
  'publish quiet': 'Limited by publish.quiet',
  pause: 'Waiting',
  nothing: null,
};

/** Explains the bottleneck; empty if there is nothing to add. Pure. */
export function limitWords(limit: Limit, about: About): string {
  return words[limit](about);
}

const words: Readonly<Record<Limit, (about: About) => string>> = {
  'upload bandwidth': ({ pace }) => bandwidthWords(pace),
  'upload slots': ({ backlog, pace }) =>
    `all ${pace.slots} are in use, and ${backlog.toSend - pace.slots} more files are waiting${together(pace)}`,
  'upload window': ({ pace: { later }, nowMs }) => {
    const opens = later.find(({ mayStart }) => mayStart);
    return opens === undefined ? 'uploads may not start' : `uploads start at ${clockTime(nowMs + opens.inMs, nowMs)}`;
  },
  'request budget': ({ pace, nowMs }) => budgetWords(pace, nowMs),
  quota: ({ pace: { quota }, nowMs }) => quotaWords(quota, nowMs),
  'processing at the service': ({ pace: { processingMs } }) =>
    processingMs === null ? 'it has not finished any video yet' : `it takes about ${seconds(processingMs)} per video`,
  'publish quiet': ({ pace }) => `feeds are published ${seconds(pace.quietMs)} after the last video became ready`,
  pause: ({ pause }) => pause?.why ?? 'dropcast is paused',
  nothing: ({ backlog }) => (backlog.toSend === 0 ? 'no files are waiting' : 'no limit slows the files down'),
};

function bandwidthWords(pace: Pace): string {
  const measured = pace.bytesPerSecond === null ? [] : [`${rate(pace.bytesPerSecond)} currently`];
  const allowed = pace.bandwidth === null ? [] : [`uploads.bandwidth allows ${rate(pace.bandwidth)}`];
  return [...measured, ...allowed].join('; ');
}

function together({ bytesPerSecond }: Pace): string {
  return bytesPerSecond === null ? '' : `; together they send ${rate(bytesPerSecond)}`;
}

function budgetWords({ room, latePoll }: Pace, nowMs: number): string {
  if (room.closedMs > 0) return `rate limited by the service until ${clockTime(nowMs + room.closedMs, nowMs)}`;
  const [next] = room.frees;
  const later = next === undefined ? '' : `; more from ${clockTime(nowMs + next[0], nowMs)} on`;
  const check = latePoll === null ? '' : `, and the next check waits until ${clockTime(nowMs + latePoll.inMs, nowMs)}`;
  return `${room.left} of ${room.limit} requests are left this hour${check}${later}`;
}

/** Says how many requests the service still allows: `the service allows 5 more until 14:02`. Pure. */
export function allowedWords(reported: { readonly left: number; readonly until: number }, nowMs: number): string {
  const { left, until } = reported;
  return `the service allows ${left} more until ${clockTime(until, nowMs)}`;
}

function quotaWords(quota: Pace['quota'], nowMs: number): string {
  if (quota === null) return '';
  const { left, most, resetsInMs } = quota;
  const videos = most.videos === Infinity ? [] : [`${left.videos} of ${most.videos} videos are left`];
  const bytes = most.bytes === Infinity ? [] : [`${size(left.bytes)} of ${size(most.bytes)} are left`];
  return [...videos, ...bytes, `more from ${clockTime(nowMs + resetsInMs, nowMs)} on`].join('; ');
}

function seconds(ms: number): string {
  return ms < 90_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}

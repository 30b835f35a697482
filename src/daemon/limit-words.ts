import type { Backlog, Limit, Pace } from '../pipeline/estimate.ts';
import type { Pause } from '../pipeline/events.ts';
import { rate } from './amounts.ts';
import { clockTime } from './clock-time.ts';
import { uploadsStart } from './upload-times.ts';

/** What a limit is explained by. */
interface About {
  readonly backlog: Backlog;
  readonly pace: Pace;
  readonly pause: Pause | null;
  readonly nowMs: number;
}

/** Pure: why that is what all that waits waits for. */
export function limitWords(limit: Limit, about: About): string {
  return words[limit](about);
}

const words: Readonly<Record<Limit, (about: About) => string>> = {
  'upload bandwidth': ({ pace }) => bandwidthWords(pace),
  'upload slots': ({ backlog, pace }) =>
    `all ${pace.slots} are in use, ${backlog.toSend - pace.slots} more files wait${together(pace)}`,
  'upload window': ({ pace: { later }, nowMs }) => {
    const opens = later.find(({ mayStart }) => mayStart);
    return opens === undefined ? 'uploads may not start' : uploadsStart(nowMs + opens.inMs, nowMs);
  },
  'request budget': ({ pace, nowMs }) => budgetWords(pace, nowMs),
  'processing at the service': ({ pace: { processingMs } }) =>
    processingMs === null ? 'it has not finished a video yet' : `it takes about ${seconds(processingMs)} for a video`,
  'publish quiet': ({ pace }) => `feeds are published ${seconds(pace.quietMs)} after the last video became ready`,
  pause: ({ pause }) => pause?.why ?? 'everything waits',
  nothing: () => 'no file waits',
};

function bandwidthWords(pace: Pace): string {
  const allowed = pace.bandwidth === null ? '' : `; uploads.bandwidth allows ${rate(pace.bandwidth)}`;
  const measured = pace.bytesPerSecond === null ? 'not measured yet' : `${rate(pace.bytesPerSecond)} at present`;
  return `${measured}${allowed}`;
}

function together({ bytesPerSecond }: Pace): string {
  return bytesPerSecond === null ? '' : `; together they send ${rate(bytesPerSecond)}`;
}

function budgetWords({ room }: Pace, nowMs: number): string {
  if (room.closedMs > 0) return `rate limited (429) until ${clockTime(nowMs + room.closedMs, nowMs)}`;
  const [next] = room.frees;
  const later = next === undefined ? '' : `; more from ${clockTime(nowMs + next[0], nowMs)} on`;
  return `${room.left} of ${room.limit} requests are left this hour${later}`;
}

function seconds(ms: number): string {
  return ms < 90_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}

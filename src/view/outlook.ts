import { estimate, untilRoomMs, type Backlog, type Limit, type Pace } from '../pipeline/estimate.ts';
import type { EarliestWorld } from '../pipeline/earliest.ts';
import { refusalOfAll } from '../pipeline/quota.ts';
import { begun } from '../pipeline/sending-time.ts';
import type { Line } from '../pipeline/file/queue.ts';
import type { OperatorPauses } from '../pipeline/operator-pauses.ts';
import { pauseWords, resumeCommand } from './waits.ts';
import type { LineRows } from '../ledger/queues.ts';
import type { Clock } from '../pipeline/file/ports.ts';
import type { Config } from '../config/config.ts';
import type { FleetView } from './hosts/fleet-view.ts';
import { roomOf } from '../host/budget-window.ts';
import type { ViewedDaemon } from './viewed-daemon.ts';
import { mayTake } from './hosts/host-view.ts';
import type { Pause } from '../pipeline/events.ts';
import { rate, size, clockTime } from './words/text.ts';

/** Waiting files, as summed by the ledger. */
export interface Waiting {
  readonly backlog: Omit<Backlog, 'feeds'>;
  /** Files in line, needed only while operators' pauses exist. */
  readonly lines: readonly Line[];
}

/** The backlog's main bottleneck and its completion time. */
export interface OutlookView {
  readonly limited_by: Limit;
  /** The limit in words. */
  readonly why: string;
  /** Null if unknown. */
  readonly done_at: number | null;
}

/** Determines the backlog's main bottleneck and its completion time. Pure. @param now epoch milliseconds */
export function outlookOf(daemon: ViewedDaemon, { backlog: all, lines }: Waiting, now: number): OutlookView {
  const { conductor } = daemon;
  const held = heldLines(lines, conductor.pauses);
  const byPeople =
    held.length > 0 && held.length === lines.length ? conductor.pauses.holds(held[0]?.folder ?? '') : null;
  const pause =
    conductor.pause() ??
    refusalOfAll(conductor.createsPauses()) ??
    (byPeople && { holds: 'everything', why: `${pauseWords(byPeople, now)}; ${resumeCommand(byPeople)} ends it` });
  const holdsAll =
    pause !== null &&
    (pause.holds === 'everything' || (pause.holds === 'new files' ? all.toCreate > 0 : all.toSend > 0));
  const backlog = withoutSent(holdsAll ? all : without(all, held), daemon);
  const hasAllBegun = all.toSend <= conductor.uploads().length;
  const pace = hasAllBegun ? begun(paceOf(daemon)) : paceOf(daemon);
  const { limitedBy, doneInMs } = estimate(backlog, pace, holdsAll);
  return {
    limited_by: limitedBy,
    why: limitWords(limitedBy, { backlog, pace, pause, nowMs: now }),
    done_at: doneInMs === null ? null : Math.round(now + doneInMs),
  };
}

function heldLines(lines: readonly Line[], pauses: Pick<OperatorPauses, 'list' | 'holds'>): readonly Line[] {
  return pauses.list().length === 0 ? [] : lines.filter(({ folder }) => pauses.holds(folder) !== null);
}

/** Subtracts paused files from the backlog: their start time is unknown. */
function without(backlog: Omit<Backlog, 'feeds'>, lines: readonly Line[]): Omit<Backlog, 'feeds'> {
  let { toCreate, toSend, bytesToSend } = backlog;
  for (const { state, files, bytes } of lines) {
    if (state === 'queued') toCreate -= files;
    toSend -= files;
    bytesToSend -= bytes;
  }
  return {
    ...backlog,
    toCreate: Math.max(0, toCreate),
    toSend: Math.max(0, toSend),
    bytesToSend: Math.max(0, bytesToSend),
  };
}

function withoutSent(backlog: Omit<Backlog, 'feeds'>, daemon: ViewedDaemon): Backlog {
  const sent = daemon.conductor.uploads().reduce((sum, { sentBytes }) => sum + sentBytes, 0);
  const feeds = feedsOf(daemon.config()).size;
  return { ...backlog, bytesToSend: Math.max(0, backlog.bytesToSend - sent), feeds };
}

/** Returns the feeds that the rules name. */
export function feedsOf({ folders }: Pick<Config, 'folders'>): ReadonlySet<string> {
  return new Set(folders.flatMap(({ rules }) => rules.flatMap(({ publish }) => publish)));
}

/**
 * Lines are cached for this multiple of their read time, so that reading them takes at most one fiftieth of a core,
 * however many clients ask.
 */
export const restFactor = 50;

/** Minimum read time, in milliseconds, for results to be cached. */
const leastMs = 2;

/**
 * Reads the lines of files for estimates. Reading 100,000 queued files takes 24 ms, which was most of a status
 * request's cost while files were arriving.
 *
 * @returns like `LineRows.lines`, but possibly slightly stale when many files are in line
 */
export function restedLines(ledger: Pick<LineRows, 'lines'>, clock: Clock): LineRows['lines'] {
  let kept: { readonly lines: readonly Line[]; readonly until: number } | null = null;
  return async (without) => {
    const startedAt = clock.elapsed();
    if (kept !== null && startedAt < kept.until) return kept.lines;
    const lines = await ledger.lines(without);
    const readAt = clock.elapsed();
    const tookMs = readAt - startedAt;
    kept = tookMs < leastMs ? null : { lines, until: readAt + restFactor * tookMs };
    return lines;
  };
}

/** Returns the measured speed and the limits. */
export function paceOf(daemon: ViewedDaemon): Pace {
  const { conductor, gate, times, fleet } = daemon;
  const { poll, publish } = daemon.config();
  return {
    ...conductor.pace(),
    // This host's limit is omitted in a fleet: the measured speed already includes every host's limit.
    bandwidth: fleet === null ? times.limit() : null,
    mayStart: times.mayStart(),
    later: times.later(),
    slots: slotsOf(fleet, conductor.pace().slots),
    room: roomOf(gate.snapshot()),
    quota: conductor.quotaRoom(),
    pollMs: poll.intervalMs,
    quietMs: publish.quietMs,
    atMostMs: publish.atMostMs,
  };
}

/** Returns what `earliestOf` knows besides the rows. */
export function earliestWorld(daemon: ViewedDaemon, now: number): EarliestWorld {
  const { conductor } = daemon;
  const { folders } = daemon.config();
  const isLimited = (folder: string): boolean =>
    folders.some(({ path, uploads }) => path === folder && uploads !== undefined);
  return {
    now,
    pace: paceOf(daemon),
    sent: new Map(conductor.uploads().map(({ id, sentBytes }) => [id, sentBytes])),
    fastestMs: conductor.fastestMs,
    mayBePassed: ({ folder, notBefore }) =>
      notBefore !== null || isLimited(folder) || conductor.pauses.holds(folder) !== null,
  };
}

/** Milliseconds until the hourly budget has admitted all of these further requests. */
export function whenSentMs({ gate }: Pick<ViewedDaemon, 'gate'>, requests: number): number {
  return untilRoomMs(requests, roomOf(gate.snapshot()));
}

function slotsOf(fleet: FleetView | null, here: number): number {
  if (fleet === null) return here;
  const others = fleet.known().filter((host) => host.name !== fleet.self && mayTake(host));
  return others.reduce((sum, { doing }) => sum + doing.slots, here);
}

interface About {
  readonly backlog: Backlog;
  readonly pace: Pace;
  readonly pause: Pick<Pause, 'why'> | null;
  readonly nowMs: number;
}

/** Names the backlog's bottleneck, as a sentence without its full stop; null when nothing is waiting. Pure. */
export function limitSentence({ limited_by: limit, why }: Pick<OutlookView, 'limited_by' | 'why'>): string | null {
  const { name } = limits[limit];
  return name === null || why === '' ? name : `${name}: ${why}`;
}

/** Explains the bottleneck; empty if there is nothing to add. Pure. */
export function limitWords(limit: Limit, about: About): string {
  return limits[limit].why(about);
}

interface LimitWords {
  readonly name: string | null;
  readonly why: (about: About) => string;
}

const limits: Readonly<Record<Limit, LimitWords>> = {
  'upload bandwidth': { name: 'Limited by upload bandwidth', why: ({ pace }) => bandwidthWords(pace) },
  'upload slots': {
    name: 'Limited by upload slots',
    why: ({ backlog, pace }) =>
      `all ${pace.slots} are in use, and ${backlog.toSend - pace.slots} more files are waiting${together(pace)}`,
  },
  'upload window': {
    name: 'Limited by uploads.window',
    why: ({ pace: { later }, nowMs }) => {
      const opens = later.find(({ mayStart }) => mayStart);
      return opens === undefined ? 'uploads may not start' : `uploads start at ${clockTime(nowMs + opens.inMs, nowMs)}`;
    },
  },
  'request budget': { name: 'Limited by the request budget', why: ({ pace, nowMs }) => budgetWords(pace, nowMs) },
  quota: { name: 'Limited by service.quota', why: ({ pace: { quota }, nowMs }) => quotaWords(quota, nowMs) },
  'processing at the service': {
    name: 'Limited by processing at the service',
    why: ({ pace: { processingMs } }) =>
      processingMs === null ? 'it has not finished any video yet' : `it takes about ${seconds(processingMs)} per video`,
  },
  'publish quiet': {
    name: 'Limited by publish.quiet',
    why: ({ pace }) => `feeds are published ${seconds(pace.quietMs)} after the last video became ready`,
  },
  pause: { name: 'Waiting', why: ({ pause }) => pause?.why ?? 'dropcast is paused' },
  nothing: {
    name: null,
    why: ({ backlog }) => (backlog.toSend === 0 ? 'no files are waiting' : 'no limit slows the files down'),
  },
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
  return `the service allows ${left.toLocaleString('en')} more until ${clockTime(until, nowMs)}`;
}

function quotaWords(quota: Pace['quota'], nowMs: number): string {
  if (quota === null) return '';
  const { left, most, resetsInMs } = quota;
  const videos = most.videos === Infinity ? [] : [`${left.videos} of ${most.videos} videos are left`];
  const bytes = most.bytes === Infinity ? [] : [`${size(left.bytes)} of ${size(most.bytes)} are left`];
  const minutes = most.minutes === Infinity ? [] : [`${Math.floor(left.minutes)} of ${most.minutes} minutes are left`];
  return [...videos, ...bytes, ...minutes, `more from ${clockTime(nowMs + resetsInMs, nowMs)} on`].join('; ');
}

function seconds(ms: number): string {
  return ms < 90_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}

import { ownQuotaCode } from '../../pipeline/file/failure.ts';
import { estimate, untilRoomMs, type Backlog, type Limit, type Pace } from '../../pipeline/estimate.ts';
import { begun } from '../../pipeline/sending-time.ts';
import type { Line } from '../../pipeline/file/queue.ts';
import type { OperatorPauses } from '../../pipeline/operator-pauses.ts';
import { limitWords } from './limit-words.ts';
import { pauseWords, resumeCommand } from '../waits.ts';
import type { LineRows } from '../../ledger/queues.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import type { Config } from '../../config/config.ts';
import type { FleetView } from '../hosts/fleet-view.ts';
import { roomOf } from '../../host/budget-window.ts';
import type { ViewedDaemon } from '../viewed-daemon.ts';
import { mayTake } from '../hosts/host-view.ts';

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
  // `service.quota` ends at a known time, so it counts as a limit and not as a pause.
  const refused =
    conductor.createsPauses().find(({ channel, code }) => channel === undefined && code !== ownQuotaCode) ?? null;
  const pause =
    conductor.pause() ??
    refused ??
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
  const { uploads, poll, publish } = daemon.config();
  return {
    ...conductor.pace(),
    // This host's limit is omitted in a fleet: the measured speed already includes every host's limit.
    bandwidth: fleet === null ? times.limit() : null,
    mayStart: times.mayStart(),
    later: times.later(),
    slots: slotsOf(fleet, uploads.concurrency),
    room: roomOf(gate.snapshot()),
    quota: conductor.quotaRoom(),
    pollMs: poll.intervalMs,
    quietMs: publish.quietMs,
    atMostMs: publish.atMostMs,
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

import type { Conductor } from '../../pipeline/conductor.ts';
import { ownQuotaCode } from '../../pipeline/file/failure.ts';
import { estimate } from '../../pipeline/estimate.ts';
import type { Backlog } from '../../pipeline/estimate.ts';
import { begun } from '../../pipeline/sending-time.ts';
import type { Line } from '../../pipeline/file/queue.ts';
import type { OperatorPauses } from '../../pipeline/operator-pauses.ts';
import { limitWords } from './limit-words.ts';
import { pauseWords, resumeCommand } from '../words/pause-words.ts';
import type { OutlookView } from '../picture/picture.ts';
import { paceOf } from './pace.ts';
import type { PaceWorld } from './pace.ts';
import type { LineRows } from '../../ledger/queues.ts';
import type { Clock } from '../../pipeline/file/ports.ts';

/** Waiting files, as summed by the ledger. */
export interface Waiting {
  readonly backlog: Omit<Backlog, 'feeds'>;
  /** Files in line, needed only while operators' pauses exist. */
  readonly lines: readonly Line[];
}

export interface OutlookWorld extends PaceWorld {
  readonly conductor: Pick<Conductor, 'pace' | 'quotaRoom' | 'pause' | 'createsPauses' | 'pauses' | 'uploads'>;
}

/** Determines the backlog's main bottleneck and its completion time. Pure. @param now epoch milliseconds */
export function outlookOf(world: OutlookWorld, { backlog: all, lines }: Waiting, now: number): OutlookView {
  const { conductor } = world;
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
  const backlog = withoutSent(holdsAll ? all : without(all, held), world);
  const hasAllBegun = all.toSend <= conductor.uploads().length;
  const pace = hasAllBegun ? begun(paceOf(world)) : paceOf(world);
  const { limitedBy, doneInMs } = estimate(backlog, pace, holdsAll);
  return {
    limited_by: limitedBy,
    why: limitWords(limitedBy, { backlog, pace, pause, nowMs: now }),
    done_at: doneInMs === null ? null : Math.round(now + doneInMs),
  };
}

/** Returns the lines of files that operators paused. */
function heldLines(lines: readonly Line[], pauses: Pick<OperatorPauses, 'list' | 'holds'>): readonly Line[] {
  return pauses.list().length === 0 ? [] : lines.filter(({ folder }) => pauses.holds(folder) !== null);
}

/** Subtracts paused files from the backlog: their start time is unknown. */
function without(backlog: Omit<Backlog, 'feeds'>, lines: readonly Line[]): Omit<Backlog, 'feeds'> {
  const sum = (of: (line: Line) => number): number => lines.reduce((total, line) => total + of(line), 0);
  const left = (all: number, held: number): number => Math.max(0, all - held);
  return {
    ...backlog,
    toCreate: left(
      backlog.toCreate,
      sum(({ state, files }) => (state === 'queued' ? files : 0)),
    ),
    toSend: left(
      backlog.toSend,
      sum(({ files }) => files),
    ),
    bytesToSend: left(
      backlog.bytesToSend,
      sum(({ bytes }) => bytes),
    ),
  };
}

function withoutSent(backlog: Omit<Backlog, 'feeds'>, world: OutlookWorld): Backlog {
  const sent = world.conductor.uploads().reduce((sum, { sentBytes }) => sum + sentBytes, 0);
  const feeds = new Set(world.config().folders.flatMap(({ rules }) => rules.flatMap(({ publish }) => publish)));
  return { ...backlog, bytesToSend: Math.max(0, backlog.bytesToSend - sent), feeds: feeds.size };
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

import type { FleetView } from '../../fleet/fleet-view.ts';
import { mayTake } from '../fleet/host-view.ts';
import type { Config } from '../../config/config.ts';
import { roomOf } from '../../host/request-room.ts';
import type { Gate } from '../../host/gate.ts';
import type { LedgerView } from '../../ledger/view.ts';
import type { Conductor } from '../../pipeline/conductor.ts';
import { restFactor } from './rested-lines.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import { estimate } from '../../pipeline/estimate.ts';
import type { Backlog, Limit, Pace } from '../../pipeline/estimate.ts';
import { begun } from '../../pipeline/sending-time.ts';
import type { Line } from '../../pipeline/file/queue.ts';
import type { OperatorPauses } from '../../pipeline/operator-pauses.ts';
import { limitWords } from './limit-words.ts';
import { pauseWords, resumeCommand } from '../../view/words/pause-words.ts';
import type { UploadTimes } from './upload-times.ts';

/** What all that waits waits for, and when it is done. */
export interface Outlook {
  readonly limitedBy: Limit;
  /** The same in a sentence. */
  readonly why: string;
  /** Epoch milliseconds; null when it cannot be said. */
  readonly doneAt: number | null;
}

export interface OutlookWorld extends PaceWorld {
  readonly ledger: Pick<LedgerView, 'backlog' | 'lines'>;
  readonly conductor: Pick<Conductor, 'pace' | 'pause' | 'pauses' | 'uploads'>;
  readonly clock: Clock;
}

/** What says how fast it goes, and what is allowed. */
export interface PaceWorld {
  readonly conductor: Pick<Conductor, 'pace'>;
  readonly gate: Pick<Gate, 'snapshot'>;
  readonly times: Pick<UploadTimes, 'limit' | 'mayStart' | 'later'>;
  /** Null: this host has its ledger for itself. */
  readonly fleet: FleetView | null;
  config(): Config;
}

/** Between two sums of the rows at least, however many ask; longer when it takes long, see `restFactor`. */
const leastRestMs = 2_000;

/** @returns asks for the outlook; rejects when the ledger cannot be read */
export function createOutlook(world: OutlookWorld): () => Promise<Outlook> {
  const { ledger, conductor, clock } = world;
  let read: {
    readonly until: number;
    readonly backlog: Omit<Backlog, 'feeds'>;
    readonly lines: readonly Line[];
  } | null = null;
  return async () => {
    const startedAt = clock.elapsed();
    if (read === null || startedAt >= read.until) {
      const backlog = await ledger.backlog();
      const tookMs = clock.elapsed() - startedAt;
      read = {
        until: startedAt + Math.max(leastRestMs, restFactor * tookMs),
        backlog,
        lines: conductor.pauses.list().length === 0 ? [] : await ledger.lines([]),
      };
    }
    const held = heldLines(read.lines, conductor.pauses);
    const byPeople =
      held.length > 0 && held.length === read.lines.length ? conductor.pauses.holds(held[0]?.folder ?? '') : null;
    const pause =
      conductor.pause() ??
      (byPeople && {
        holds: 'everything',
        why: `${pauseWords(byPeople, clock.now())}; ${resumeCommand(byPeople)} ends it`,
      });
    const holdsAll = pause !== null && (pause.holds === 'everything' || read.backlog.toSend > 0);
    const backlog = withoutSent(holdsAll ? read.backlog : without(read.backlog, held), world);
    const hasAllBegun = read.backlog.toSend <= conductor.uploads().length;
    const pace = hasAllBegun ? begun(paceOf(world)) : paceOf(world);
    const { limitedBy, doneInMs } = estimate(backlog, pace, holdsAll);
    return {
      limitedBy,
      why: limitWords(limitedBy, { backlog, pace, pause, nowMs: clock.now() }),
      doneAt: doneInMs === null ? null : Math.round(clock.now() + doneInMs),
    };
  };
}

/** Lines of files that people do not want to begin. */
function heldLines(lines: readonly Line[], pauses: Pick<OperatorPauses, 'list' | 'holds'>): readonly Line[] {
  return pauses.list().length === 0 ? [] : lines.filter(({ folder }) => pauses.holds(folder) !== null);
}

/** Nobody knows when they begin: the others are done before. */
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

function withoutSent(backlog: Omit<Backlog, 'feeds'>, { conductor, config }: OutlookWorld): Backlog {
  const sent = conductor.uploads().reduce((sum, { sentBytes }) => sum + sentBytes, 0);
  const feeds = new Set(config().folders.flatMap(({ rules }) => rules.flatMap(({ publish }) => publish)));
  return { ...backlog, bytesToSend: Math.max(0, backlog.bytesToSend - sent), feeds: feeds.size };
}

/** How fast it goes, and what is allowed. */
export function paceOf(world: PaceWorld): Pace {
  const { conductor, gate, times } = world;
  // A method of the daemon: taken out of it, it would not find its own.
  const { uploads, poll, publish } = world.config();
  return {
    ...conductor.pace(),
    // Of this host: what the others allow themselves is in what was measured.
    bandwidth: world.fleet === null ? times.limit() : null,
    mayStart: times.mayStart(),
    later: times.later(),
    slots: slotsOf(world.fleet, uploads.concurrency),
    room: roomOf(gate.snapshot()),
    pollMs: poll.intervalMs,
    quietMs: publish.quietMs,
    atMostMs: publish.atMostMs,
  };
}

/** Of all hosts that take up files. */
function slotsOf(fleet: FleetView | null, here: number): number {
  if (fleet === null) return here;
  const others = fleet.known().filter((host) => host.name !== fleet.self && mayTake(host));
  return others.reduce((sum, { doing }) => sum + doing.slots, here);
}

import type { Gate } from '../host/gate.ts';
import type { FrozenFolder, Folders } from '../intake/folders.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import type { OperatorPause, Pause } from '../pipeline/events.ts';
import type { UnknownName } from '../pipeline/service-names.ts';
import { operatorCommand } from '../service-user.ts';
import { capitalised } from './words/capitalised.ts';
import { clockTime } from './words/clock-time.ts';
import { obstacleOf } from './words/stop-words.ts';
import type { Obstacle } from './words/stop-words.ts';
import { pauseWords, resumeCommand } from './words/pause-words.ts';

/** Why something waits. The order is that of `waitsOf`. */
export type WaitCause =
  | Obstacle
  | 'paused'
  | 'unanswered creates'
  | 'upload window'
  | 'rate limit'
  | 'folder'
  | 'unknown channel'
  | 'unknown feed';

/** One cause that holds work up. All surfaces show it with these facts, in these words. */
export interface Wait {
  readonly cause: WaitCause;
  /** Scope; `some` are the files of one folder, channel or feed. */
  readonly holds: 'everything' | 'uploads' | 'new files' | 'some';
  /** The scope for people: `everything`, `uploads`, `new files`, a folder, `files for channel ch_news`. */
  readonly what: string;
  /** What happened, without times and remedy, as part of a sentence. */
  readonly why: string;
  /** Epoch milliseconds; null when no one noted it. */
  readonly since: number | null;
  /** When it ends, or is tried again (epoch milliseconds); null when it ends only by the remedy. */
  readonly until: number | null;
  /** What ends it; null when dropcast continues without help. */
  readonly remedy: string | null;
}

/** Sources of the waits. */
export interface WaitPorts {
  readonly conductor: Pick<Conductor, 'pause' | 'createsWaitUntil'> & {
    readonly pauses: Pick<Conductor['pauses'], 'list'>;
    readonly names: Pick<Conductor['names'], 'unknown'>;
  };
  readonly gate: Pick<Gate, 'snapshot'>;
  readonly times: { startAt(): number | null };
  readonly folders: Pick<Folders, 'frozenFolders'>;
  /** Null: no other host has the same ledger. */
  readonly fleet: { whyAway(): string | null; awaySince(): number | null } | null;
}

/** Everything that holds work up now, the most far-reaching first. @param now epoch milliseconds */
export function waitsOf({ conductor, gate, times, folders, fleet }: WaitPorts, now: number): readonly Wait[] {
  const away = fleet?.whyAway() ?? null;
  const pause = conductor.pause();
  const createsUntil = conductor.createsWaitUntil();
  const startAt = times.startAt();
  const { blockedUntil } = gate.snapshot();
  return [
    ...(away === null ? [] : [ofDatabase(away, fleet?.awaySince() ?? null)]),
    // That nothing can be written while the database is away is no second cause.
    ...(pause === null || (away !== null && obstacleOf(pause) === 'database') ? [] : [ofPause(pause)]),
    ...pausedBy(conductor.pauses.list(), now),
    ...(createsUntil === null ? [] : [ofCreates(createsUntil)]),
    ...(startAt === null ? [] : [ofWindow(startAt)]),
    ...(blockedUntil > now ? [ofRateLimit(blockedUntil)] : []),
    ...folders.frozenFolders().map(ofFolder),
    ...conductor.names.unknown().map(ofName),
  ];
}

const none = { since: null, until: null, remedy: null } as const;

function ofDatabase(why: string, since: number | null): Wait {
  return { ...none, cause: 'database', holds: 'everything', what: 'everything', why, since };
}

/** Pure: the wait of a pause that dropcast set itself. */
export function ofPause(pause: Pause): Wait {
  const { holds, why, since, nextProbeAt } = pause;
  return { ...none, cause: obstacleOf(pause), holds, what: holds, why, since, until: nextProbeAt };
}

/** Pure: what people paused, the pause of everything first. @param now epoch milliseconds */
export function pausedBy(pauses: readonly OperatorPause[], now: number): readonly Wait[] {
  return pauses
    .toSorted((a, b) => Number(a.folder !== null) - Number(b.folder !== null))
    .map((each) => ofOperator(each, now));
}

function ofOperator(pause: OperatorPause, now: number): Wait {
  const { folder, since, until } = pause;
  return {
    cause: 'paused',
    holds: folder === null ? 'everything' : 'some',
    what: folder ?? 'everything',
    why: pauseWords(pause, now),
    since,
    until,
    remedy: `${resumeCommand(pause)} ends it`,
  };
}

function ofCreates(until: number): Wait {
  const why = 'too many create requests in the last hour got no usable answer';
  return { ...none, cause: 'unanswered creates', holds: 'new files', what: 'new files', why, until };
}

function ofWindow(until: number): Wait {
  return { ...none, cause: 'upload window', holds: 'uploads', what: 'uploads', why: 'outside `uploads.window`', until };
}

function ofRateLimit(until: number): Wait {
  return { ...none, cause: 'rate limit', holds: 'some', what: 'requests', why: 'rate limited (429)', until };
}

/** Pure: the wait of a folder that cannot be used. */
export function ofFolder({ path, why }: FrozenFolder): Wait {
  return { ...none, cause: 'folder', holds: 'some', what: path, why };
}

/** Pure: the wait of what goes to a channel or feed that the service does not have. */
export function ofName({ kind, name, since }: UnknownName): Wait {
  return {
    ...none,
    cause: `unknown ${kind}`,
    holds: 'some',
    what: kind === 'channel' ? `files for channel ${name}` : `videos for feed ${name}`,
    why: `the service does not have the ${kind}`,
    since,
    remedy: `create it there, or correct the rules and run \`${operatorCommand('dropcast reload')}\``,
  };
}

/** Pure: the cause for which nothing at all is sent; null when something may be. */
export function stopOf(waits: readonly Wait[]): Wait | null {
  return waits.find(({ holds, cause }) => holds === 'everything' || cause === 'upload host') ?? null;
}

/** Pure: the cause for which no waiting file begins; null when one may. @param queued files that wait to begin */
export function mainWait(waits: readonly Wait[], queued: number): Wait | null {
  return stopOf(waits) ?? (queued === 0 ? null : (waits.find(({ holds }) => holds !== 'some') ?? null));
}

/** Pure: what dropcast waits for, in two to six words: `Waiting for the key`, `Paused by anna since 14:02`. */
export function briefly(wait: Wait): string {
  return wait.cause === 'paused' ? capitalised(wait.why) : `Waiting ${goalOf(wait)}`;
}

/** Pure: a heading, without the reason: `Everything waits for the key`, `/mnt/nas waits`. */
export function headingOf(wait: Wait): string {
  return wait.holds === 'some' || wait.cause === 'paused' ? subjectOf(wait) : `${subjectOf(wait)} ${goalOf(wait)}`;
}

function goalOf({ cause }: Wait): string {
  return goals[cause] ?? `for the ${cause}`;
}

const goals: Readonly<Partial<Record<WaitCause, string>>> = {
  machine: 'for this machine',
  'unanswered creates': 'for answers to create requests',
};

/**
 * Pure: one wait as a sentence without its full stop: `Everything waits: the service cannot be reached, since 14:02;
 * next try at 14:07`.
 */
export function waitWords(wait: Wait, now: number): string {
  return `${subjectOf(wait)}: ${whyWords(wait, now)}`;
}

function subjectOf({ cause, holds, what }: Wait): string {
  const verb = holds === 'everything' || cause === 'folder' || cause === 'paused' ? 'waits' : 'wait';
  return `${capitalised(what)} ${verb}`;
}

/** Pure: the same without what waits, for a place that names it. */
export function whyWords(wait: Wait, now: number): string {
  const { cause, why, since, remedy } = wait;
  // Their words have the times.
  if (cause === 'paused' || cause === 'database') return remedy === null ? why : `${why}; ${remedy}`;
  // The first part is what happened; advice may follow it.
  const [happened = why, ...advice] = why.split('; ');
  const start = since === null ? happened : `${happened}, since ${clockTime(since, now)}`;
  return [start, ...advice, endWords(wait, now), remedy].filter((part) => part !== null).join('; ');
}

/** Pure: the same for a text that is read later, when the next try is long over. */
export function lastingWords(wait: Wait, now: number): string {
  return whyWords(isObstacle(wait) ? { ...wait, until: null } : wait, now);
}

/** Pure: the waits as lines. The state of a fleet has a list of its own, which begins with the database. */
export function waitLines(waits: readonly Wait[], now: number): readonly string[] {
  return waits.filter(({ cause }) => cause !== 'database').map((wait) => `${waitWords(wait, now)}.`);
}

function endWords(wait: Wait, now: number): string | null {
  const { cause, until } = wait;
  if (until === null) return null;
  if (cause === 'rate limit') return `resumes in ${Math.ceil((until - now) / 1_000)} s`;
  return `${isObstacle(wait) ? 'next try' : 'resumes'} at ${clockTime(until, now)}`;
}

/** Whether dropcast found the cause itself and keeps trying: its `until` is the next try. */
export function isObstacle({ cause }: Wait): boolean {
  return obstacles.has(cause);
}

const obstacles: ReadonlySet<WaitCause> = new Set<WaitCause>([
  'database',
  'key',
  'account',
  'service',
  'upload host',
  'machine',
]);

/**
 * Pure: what a file waits for. The whole reason of an obstacle appears once on each surface; files refer to it:
 * `waiting for the key`.
 */
export function fileWaitWords(wait: Wait, now: number): string {
  return isObstacle(wait) ? `waiting ${goalOf(wait)}` : whyWords({ ...wait, remedy: null }, now);
}

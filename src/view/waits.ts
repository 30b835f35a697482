import type { Gate } from '../host/gate.ts';
import type { FrozenFolder, Folders } from '../intake/folders.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import type { OperatorPause, Pause } from '../pipeline/events.ts';
import type { UnknownName } from '../pipeline/service-names.ts';
import { operatorCommand } from '../read-permission.ts';
import { capitalised, clockTime } from './words/text.ts';
import { accountTroubleOf, type AccountTrouble } from '../pipeline/file/account-trouble.ts';
import { awayCode } from '../pipeline/file/store-errors.ts';

/** Why something is waiting. Sorted as in `waitsOf`. */
export type WaitCause =
  | Obstacle
  | 'paused'
  | 'unanswered creates'
  | 'upload window'
  | 'rate limit'
  | 'folder'
  | 'unknown channel'
  | 'unknown feed';

/** One cause that holds up work. Every surface shows it with these facts and words. */
export interface Wait {
  readonly cause: WaitCause;
  /** Scope; `some`: the files of one folder, channel or feed. */
  readonly holds: 'everything' | 'uploads' | 'new files' | 'some';
  /** Display name of the scope: `everything`, `uploads`, `new files`, a folder, `files for channel ch_news`. */
  readonly what: string;
  /** What happened, as part of a sentence; without times or remedy. */
  readonly why: string;
  /** Epoch milliseconds; null if not recorded. */
  readonly since: number | null;
  /** When the wait ends or is retried (epoch milliseconds); null: only the remedy ends it. */
  readonly until: number | null;
  /** What ends the wait; null: dropcast continues without help. */
  readonly remedy: string | null;
}

/** The parts of the daemon that waits are derived from. */
export interface WaitPorts {
  readonly conductor: Pick<Conductor, 'pause' | 'createsPauses' | 'createsWaitUntil'> & {
    readonly pauses: Pick<Conductor['pauses'], 'list'>;
    readonly names: Pick<Conductor['names'], 'unknown'>;
  };
  readonly gate: Pick<Gate, 'snapshot'>;
  readonly times: { startAt(): number | null };
  readonly folders: Pick<Folders, 'frozenFolders'>;
  /** Null: the ledger is not shared. */
  readonly fleet: { whyAway(): string | null; awaySince(): number | null } | null;
}

/** Returns everything that holds up work now, most far-reaching first. @param now epoch milliseconds */
export function waitsOf({ conductor, gate, times, folders, fleet }: WaitPorts, now: number): readonly Wait[] {
  const away = fleet?.whyAway() ?? null;
  const pause = conductor.pause();
  const createsUntil = conductor.createsWaitUntil();
  const startAt = times.startAt();
  const { blockedUntil } = gate.snapshot();
  return [
    ...(away === null ? [] : [waitOf('database', 'everything', { why: away, since: fleet?.awaySince() ?? null })]),
    // While the database is away, failed writes are not a separate cause.
    ...(pause === null || (away !== null && obstacleOf(pause) === 'database') ? [] : [ofPause(pause)]),
    ...pausedBy(conductor.pauses.list(), now),
    ...conductor.createsPauses().map(ofPause),
    ...(createsUntil === null
      ? []
      : [waitOf('unanswered creates', 'new files', { why: unanswered, until: createsUntil })]),
    ...(startAt === null
      ? []
      : [waitOf('upload window', 'uploads', { why: 'outside `uploads.window`', until: startAt })]),
    ...(blockedUntil > now
      ? [waitOf('rate limit', 'some', { what: 'requests', why: 'rate limited by the service', until: blockedUntil })]
      : []),
    ...folders.frozenFolders().map(ofFolder),
    ...conductor.names.unknown().map(ofName),
  ];
}

const unanswered = 'too many create requests in the last hour got no usable answer';

function waitOf(cause: WaitCause, holds: Wait['holds'], facts: Pick<Wait, 'why'> & Partial<Wait>): Wait {
  return { cause, holds, what: holds, since: null, until: null, remedy: null, ...facts };
}

/** Converts a pause that dropcast set itself into a wait. Pure. */
export function ofPause(pause: Pause): Wait {
  const { holds, why, since, nextProbeAt: until, channel } = pause;
  if (channel === undefined) return waitOf(obstacleOf(pause), holds, { why, since, until });
  return waitOf(obstacleOf(pause), 'some', { what: filesFor(channel), why, since, until });
}

/** Converts operators' pauses into waits, the pause of everything first. Pure. @param now epoch milliseconds */
export function pausedBy(pauses: readonly OperatorPause[], now: number): readonly Wait[] {
  return pauses
    .toSorted((a, b) => Number(a.folder !== null) - Number(b.folder !== null))
    .map((pause) => {
      const { folder, since, until } = pause;
      return waitOf('paused', folder === null ? 'everything' : 'some', {
        what: folder ?? 'everything',
        why: pauseWords(pause, now),
        since,
        until,
        remedy: `${resumeCommand(pause)} ends it`,
      });
    });
}

/** Converts an unusable folder into a wait. Pure. */
export function ofFolder({ path, why }: FrozenFolder): Wait {
  return waitOf('folder', 'some', { what: path, why });
}

/** Converts a channel or feed that the service lacks into the wait of its files. Pure. */
export function ofName({ kind, name, since }: UnknownName): Wait {
  return waitOf(`unknown ${kind}`, 'some', {
    what: kind === 'channel' ? filesFor(name) : `videos for feed ${name}`,
    why: `the service does not have the ${kind}`,
    since,
    remedy: `create it there, or correct the rules and run \`${operatorCommand('dropcast reload')}\``,
  });
}

/** Names the files of a channel. */
export function filesFor(channel: string): string {
  return `files for channel ${channel}`;
}

/** Returns the cause that stops all sending; null if something can be sent. Pure. */
export function stopOf(waits: readonly Wait[]): Wait | null {
  return waits.find((wait) => wait.holds === 'everything' || (wait.holds === 'uploads' && isObstacle(wait))) ?? null;
}

/**
 * Returns the cause that keeps every waiting file from starting; null if one can start. Pure. @param queued number of
 * files waiting to start
 */
export function mainWait(waits: readonly Wait[], queued: number): Wait | null {
  return stopOf(waits) ?? (queued === 0 ? null : (waits.find(({ holds }) => holds !== 'some') ?? null));
}

/** Describes a wait in two to six words: `Waiting for the key`, `Paused by anna since 14:02`. Pure. */
export function briefly(wait: Wait): string {
  return wait.cause === 'paused' ? capitalised(wait.why) : `Waiting ${goalOf(wait)}`;
}

/** Returns a heading without the reason: `Everything waits for the key`, `/mnt/nas waits`. Pure. */
export function headingOf(wait: Wait): string {
  return wait.holds === 'some' || wait.cause === 'paused' ? subjectOf(wait) : `${subjectOf(wait)} ${goalOf(wait)}`;
}

function goalOf({ cause }: Wait): string {
  return goals[cause] ?? `for the ${cause}`;
}

const goals: Readonly<Partial<Record<WaitCause, string>>> = {
  machine: 'for this machine',
  storage: 'for storage on the service',
  'unanswered creates': 'for answers to create requests',
};

/**
 * Describes a wait as a sentence without its full stop: `Everything waits: the service cannot be reached, since 14:02;
 * next try at 14:07`. Pure.
 */
export function waitWords(wait: Wait, now: number): string {
  return `${subjectOf(wait)}: ${whyWords(wait, now)}`;
}

function subjectOf({ cause, holds, what }: Wait): string {
  const verb = holds === 'everything' || cause === 'folder' || cause === 'paused' ? 'waits' : 'wait';
  return `${capitalised(what)} ${verb}`;
}

/** Describes the reason for a wait, without naming what is waiting. Pure. */
export function whyWords(wait: Wait, now: number): string {
  const { cause, why, since, remedy } = wait;
  // For these causes, `why` already contains the times.
  if (cause === 'paused' || cause === 'database') return remedy === null ? why : `${why}; ${remedy}`;
  // The first part states what happened; advice may follow.
  const [happened = why, ...advice] = why.split('; ');
  const start = since === null ? happened : `${happened.replace(/\.$/, '')}, since ${clockTime(since, now)}`;
  return [start, ...advice, endWords(wait, now), remedy].filter((part) => part !== null).join('; ');
}

/** Like `whyWords`, but without the next try, for text read after that time. Pure. */
export function lastingWords(wait: Wait, now: number): string {
  return whyWords(isObstacle(wait) ? { ...wait, until: null } : wait, now);
}

/** Returns the waits as lines. Omits the database, which heads the separate list of fleet problems. Pure. */
export function waitLines(waits: readonly Wait[], now: number): readonly string[] {
  return waits.filter(({ cause }) => cause !== 'database').map((wait) => `${waitWords(wait, now)}.`);
}

function endWords(wait: Wait, now: number): string | null {
  const { cause, until } = wait;
  if (until === null) return null;
  if (cause === 'rate limit') return `resumes in ${Math.ceil((until - now) / 1_000)} s`;
  return `${isObstacle(wait) ? 'next try' : 'resumes'} at ${clockTime(until, now)}`;
}

/** Whether dropcast detected the cause itself and keeps trying: `until` is the next attempt. */
export function isObstacle({ cause }: Wait): boolean {
  return cause in over;
}

/**
 * Describes what a file is waiting for. For an obstacle it only names the goal, `waiting for the key`, because each
 * surface shows the full reason once. Pure.
 */
export function fileWaitWords(wait: Wait, now: number): string {
  return isObstacle(wait) ? `waiting ${goalOf(wait)}` : whyWords({ ...wait, remedy: null }, now);
}

/** The change that is needed before work can resume. */
export type Obstacle = 'database' | 'key' | AccountTrouble | 'service' | 'upload host' | 'machine';

type Stop = Pick<Pause, 'kind' | 'holds' | 'code' | 'trouble'>;

/**
 * Identifies the obstacle from a pause's code. This machine's failures have the system's errno name as their code; the
 * service's refusals have codes of their own. Pure.
 */
export function obstacleOf({ kind, holds, code, trouble }: Stop): Obstacle {
  if (trouble !== undefined) return trouble;
  if (code === awayCode) return 'database';
  if (kind === 'suspended' && /^[A-Z]/.test(code)) return 'machine';
  if (holds === 'uploads') return accountTroubleOf({ code }) ?? 'upload host';
  if (kind === 'offline') return 'service';
  return accountCodes.has(code) ? 'account' : 'key';
}

const accountCodes: ReadonlySet<string> = new Set(['forbidden', 'payment_required']);

/**
 * Reports that an obstacle is gone. Does not promise that work resumes, because something else may still block it.
 * Pure.
 */
export function overWords(obstacle: Obstacle): string {
  return over[obstacle];
}

const over: Readonly<Record<Obstacle, string>> = {
  database: 'The database answers again',
  key: 'The service accepts the key again',
  account: 'The service accepts the account again',
  quota: 'The quota of the service has room again',
  storage: 'The service has storage again',
  channel: 'The service accepts new videos of the channel again',
  service: 'The service is reachable again',
  'upload host': 'Files can be uploaded again',
  machine: 'This machine works again',
};

/** Describes a pause: `paused by anna since 14:02 until 18:00`. Pure. */
export function pauseWords({ by, since, until }: OperatorPause, nowMs: number): string {
  const end = until === null ? '' : ` until ${clockTime(until, nowMs)}`;
  return `paused by ${by} since ${clockTime(since, nowMs)}${end}`;
}

/** Returns the command that ends a pause. Pure. */
export function resumeCommand({ folder }: Pick<OperatorPause, 'folder'>): string {
  return `\`${operatorCommand(`dropcast resume ${folder ?? '--all'}`)}\``;
}

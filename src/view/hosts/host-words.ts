import type { Config } from '../../config/config.ts';
import { durationWords } from '../../watch/clock.ts';
import { clockTime, counted } from '../words/text.ts';
import { isAtWork, mayTake, workerOf, type FleetStatus, type HostView } from './host-view.ts';
import type { FleetView, Host } from './fleet-view.ts';

/** Maximum tolerated clock difference, in milliseconds. A larger one makes times in rows confusing. */
const mostAheadMs = 30_000;

/** Describes what a host is doing, in a few words. Pure. */
export function hostWords(host: HostView, now: number): string {
  const { state, uploads, working, slots, draining } = host;
  const others = working - uploads;
  const running = [
    ...(uploads > 0 ? [`${uploads} of ${slots} uploads`] : []),
    ...(others > 0 ? [`${counted(others, 'other file')} under way`] : []),
  ].join(', ');
  switch (state) {
    case 'running':
      return running === '' ? 'idle' : running;
    case 'draining':
      return `draining ${byAndSince(draining, now)}: ${running} to finish, nothing new starts`;
    case 'drained':
      return `drained ${byAndSince(draining, now)}: nothing runs here`;
    case 'silent':
      return `silent: last heard ${inSeconds(now - host.heard_at)} ago${waitingWords(host)}`;
    default:
      return `stopped at ${clockTime(host.heard_at, now)}${waitingWords(host)}`;
  }
}

/** Lists a fleet's problems, one sentence each, worst first. Pure. */
export function fleetTroubles(fleet: FleetStatus, now: number): readonly string[] {
  const { hosts, away } = fleet;
  return [
    ...(away === null ? [] : [awayWords(away)]),
    ...(hosts.some(({ state }) => state === 'running') ? [] : [noneWords]),
    ...hosts.filter(({ state }) => state === 'silent').map((host) => silentWords(host, now)),
    ...hosts.filter(({ state, waiting }) => state !== 'silent' && waiting > 0).map(leftWords),
    ...hosts.flatMap(frozenWords),
    ...versionWords(hosts),
    ...hosts.flatMap(clockWords),
  ];
}

/** Describes the outage of a fleet's database. Pure. @param why see `FleetStatus.away` */
export function awayWords(why: string): string {
  return `${why}. Uploads in flight continue; everything else waits.`;
}

const noneWords = 'No host takes files: all of them are draining, stopped or silent.';

function byAndSince(draining: HostView['draining'], now: number): string {
  return draining === null ? '' : `by ${draining.by} since ${clockTime(draining.since, now)}`;
}

function waitingWords({ waiting }: HostView): string {
  return waiting === 0 ? '' : `; ${counted(waiting, 'file waits', 'files wait')} for it`;
}

function silentWords({ name, heard_at: heardAt, waiting }: HostView, now: number): string {
  const rest =
    waiting === 0
      ? 'The other hosts take over its work.'
      : `${counted(waiting, 'file waits', 'files wait')} for it: no other working host can read their folders.`;
  return `${name} was last heard ${inSeconds(now - heardAt)} ago, at ${clockTime(heardAt, now)}. ${rest}`;
}

function leftWords({ name, state, waiting }: HostView): string {
  const why = state === 'stopped' ? 'is stopped' : 'is draining';
  return `${name} ${why}. ${counted(waiting, 'file waits', 'files wait')} for it: no other working host can read their folders.`;
}

/** Omits this host's folders, which are reported elsewhere. */
function frozenWords({ name, here, frozen }: HostView): readonly string[] {
  if (here) return [];
  return frozen.map(({ path, why }) => `${name}: ${path} cannot be used${why === null ? '' : `: ${why}`}.`);
}

function versionWords(hosts: readonly HostView[]): readonly string[] {
  const alive = hosts.filter(({ state }) => state !== 'stopped' && state !== 'silent');
  const byVersion = Map.groupBy(alive, ({ version }) => version);
  if (byVersion.size < 2) return [];
  const parts = Array.from(byVersion, ([version, of]) => `${version} (${of.map(({ name }) => name).join(', ')})`);
  return [`The hosts run different versions: ${parts.join(', ')}. That is fine during an upgrade; finish it.`];
}

function clockWords({ name, state, clock_ahead_ms: aheadMs }: HostView): readonly string[] {
  if (state === 'stopped' || aheadMs === null || Math.abs(aheadMs) < mostAheadMs) return [];
  const off = `${inSeconds(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
  return [`The clock of ${name} is ${off} that of PostgreSQL: the times that it writes are off by as much.`];
}

/** At least a second: two hosts' clocks may differ. */
function inSeconds(ms: number): string {
  return durationWords(Math.max(1, Math.round(ms / 1_000)) * 1_000);
}

/** Explains why a command left a file alone: a step or another host holds its row. */
export function heldWords(fleet: FleetView | null, id: string): string {
  const worker = fleet === null ? null : workerOf(fleet, id);
  if (worker !== null)
    return `${worker} is working on it, and no other host can stop that: nothing was changed. Run this on ${worker}, or repeat it later`;
  return fleet === null
    ? 'busy: a step or the disk is using it; nothing was changed, repeat this later'
    : 'busy: a step or the disk is using it, here or on another host; nothing was changed, repeat this later';
}

/**
 * Explains why this host cannot do something that needs a folder's files or rules.
 *
 * @param folder as rows name it
 * @returns null: it can be done here, or no host has the folder
 */
export function whyElsewhere(
  { fleet, config }: { readonly fleet: FleetView | null; config(): Pick<Config, 'folders'> },
  folder: string,
): string | null {
  const watched = config().folders.map(({ path }) => path);
  const having = hostsWith(fleet, folder, watched);
  if (having === null || having.length === 0) return null;
  const atWork = having.filter(isAtWork);
  const [first] = atWork;
  if (first !== undefined) return `only ${namesOf(atWork)} can read its folder: run this on ${first.name}`;
  return goneWords(having);
}

/** Explains that no host accepts files; null: one does. */
export function noneTakesWords(fleet: FleetView | null): string | null {
  if (fleet === null || fleet.known().some(mayTake)) return null;
  return 'no host takes files: all of them are draining, stopped or silent';
}

/** Why a file that this host cannot read is waiting. */
export interface ElsewhereWait {
  readonly why: string;
  /** No host accepts the file, regardless of what else it waits for. */
  readonly isStuck: boolean;
}

/** @returns null: this host can read it, or the ledger is not shared */
export function waitsElsewhere(
  fleet: FleetView | null,
  folder: string,
  watched: readonly string[],
): ElsewhereWait | null {
  const having = hostsWith(fleet, folder, watched);
  if (having === null) return null;
  const atWork = having.filter(isAtWork);
  if (atWork.length === 0) return { why: goneWords(having), isStuck: true };
  const free = atWork.filter(({ draining }) => draining === null);
  if (free.length > 0) return { why: `waits for ${namesOf(free, 'or')}, which can read its folder`, isStuck: false };
  const why = `only ${namesOf(atWork)} can read this folder, and ${atWork.length === 1 ? 'it is' : 'they are'} draining`;
  return { why, isStuck: true };
}

/**
 * Returns the other hosts that have the folder. Null: this host has it, or had it. A folder that only other hosts have
 * is named by its place, which is not a path.
 */
function hostsWith(fleet: FleetView | null, folder: string, watched: readonly string[]): readonly Host[] | null {
  if (fleet === null || watched.includes(folder)) return null;
  const having = fleet.known().filter(({ name, doing }) => name !== fleet.self && doing.places.includes(folder));
  return having.length === 0 && folder.startsWith('/') ? null : having;
}

/** @param hosts none of them running */
function goneWords(hosts: readonly Host[]): string {
  const [last] = hosts.toSorted((one, other) => other.heardAt - one.heardAt);
  if (last === undefined) return 'no host of the fleet can read this folder';
  const who = hosts.length === 1 ? 'it' : last.name;
  const how = last.isStopped ? 'was stopped' : 'was last heard';
  return `only ${namesOf(hosts)} can read this folder, and ${who} ${how} ${inSeconds(Date.now() - last.heardAt)} ago`;
}

function namesOf(hosts: readonly Host[], word = 'and'): string {
  const names = hosts.map(({ name }) => name).toSorted();
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1) ?? ''}`;
}

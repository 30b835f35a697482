import { durationWords } from '../../watch/clock.ts';
import { clockTime } from '../words/clock-time.ts';
import type { FleetStatus, HostView } from './host-view.ts';

/** Maximum tolerated clock difference, in milliseconds. A larger one makes times in rows confusing. */
const mostAheadMs = 30_000;

/** Describes what a host is doing, in a few words. Pure. */
export function hostWords(host: HostView, now: number): string {
  const { state, uploads, working, slots, draining } = host;
  const others = working - uploads;
  const running = [
    ...(uploads > 0 ? [`${uploads} of ${slots} uploads`] : []),
    ...(others > 0 ? [`${others === 1 ? '1 other file' : `${others} other files`} under way`] : []),
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
  return waiting === 0 ? '' : `; ${files(waiting)} for it`;
}

function silentWords({ name, heard_at: heardAt, waiting }: HostView, now: number): string {
  const rest =
    waiting === 0
      ? 'The other hosts take over its work.'
      : `${files(waiting)} for it: no other working host can read their folders.`;
  return `${name} was last heard ${inSeconds(now - heardAt)} ago, at ${clockTime(heardAt, now)}. ${rest}`;
}

function leftWords({ name, state, waiting }: HostView): string {
  const why = state === 'stopped' ? 'is stopped' : 'is draining';
  return `${name} ${why}. ${files(waiting)} for it: no other working host can read their folders.`;
}

/** Omits this host's folders, which are reported elsewhere. */
function frozenWords({ name, here, frozen }: HostView): readonly string[] {
  if (here) return [];
  return frozen.map(({ path, why }) => `${name}: ${path} cannot be used${why === null ? '' : `: ${why}`}.`);
}

function files(count: number): string {
  return count === 1 ? '1 file waits' : `${count.toLocaleString('en')} files wait`;
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

function inSeconds(ms: number): string {
  return durationWords(Math.max(1, Math.round(ms / 1_000)) * 1_000);
}

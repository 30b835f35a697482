import type { Ledger } from '../../ledger/ledger.ts';
import type { FleetView, Host } from './fleet-view.ts';

/** A member for commands, page and programs. Times are epoch milliseconds. */
export interface HostView {
  readonly name: string;
  /** Whether this is the host that answers. */
  readonly here: boolean;
  /**
   * `draining`: it finishes its steps; `drained`: nothing runs there; `silent`: no report for 15 s; `stopped`: stopped
   * in an orderly way.
   */
  readonly state: 'running' | 'draining' | 'drained' | 'silent' | 'stopped';
  readonly version: string;
  /** The schema version that it supports. */
  readonly schema: number;
  readonly started_at: number;
  readonly heard_at: number;
  readonly draining: { readonly since: number; readonly by: string } | null;
  /** Uploads that it may run at the same time, and those in progress. */
  readonly slots: number;
  readonly uploads: number;
  /** Rate of all of them together; null: not measured. */
  readonly bytes_per_second: number | null;
  /** Files whose rows it holds, uploads included. */
  readonly working: number;
  /** Folders that it can read, by their names in rows. */
  readonly places: readonly string[];
  /** Files that wait because no other running host can read their folders. */
  readonly waiting: number;
  /** Its folders that cannot be used. */
  readonly frozen: readonly { readonly path: string; readonly why: string | null }[];
  /** How far its clock is ahead of the database's; null: not measured yet. */
  readonly clock_ahead_ms: number | null;
}

/** The members of a fleet; null on a single host. */
export interface FleetStatus {
  /** Since when the database has not answered, so that all of this is as old. Null: it answers. */
  readonly away_since: number | null;
  /** The same as a sentence without its full stop: which database, since when, and why. */
  readonly away: string | null;
  readonly hosts: readonly HostView[];
}

/** Counts files. */
export interface FleetLedger {
  readonly selection: Pick<Ledger['selection'], 'count'>;
}

/** The last reports of the members. @param ledger counts the files that wait for a silent one; null: not counted */
export async function fleetStatusOf(fleet: FleetView, ledger: FleetLedger | null): Promise<FleetStatus> {
  const hosts = fleet.known();
  const views = await Promise.all(
    hosts.map(async (host) => hostView(host, fleet.self, await countWaiting(host, hosts, ledger))),
  );
  return { away_since: fleet.awaySince(), away: fleet.whyAway(), hosts: views };
}

/** Pure. @param waiting files that only this host can take */
export function hostView(host: Host, self: string, waiting = 0): HostView {
  const uploads = host.doing.work.flatMap(({ upload }) => upload ?? []);
  const speeds = uploads.flatMap(({ bytesPerSecond }) => bytesPerSecond ?? []);
  const works = isAtWork(host);
  return {
    name: host.name,
    here: host.name === self,
    state: hostState(host),
    version: host.version,
    schema: host.schema,
    started_at: host.startedAt,
    heard_at: host.heardAt,
    draining: host.draining,
    slots: host.doing.slots,
    uploads: works ? uploads.length : 0,
    bytes_per_second: works && speeds.length > 0 ? Math.round(speeds.reduce((sum, speed) => sum + speed, 0)) : null,
    working: works ? host.doing.work.length : 0,
    places: host.doing.places,
    waiting,
    frozen: works ? frozenOf(host) : [],
    clock_ahead_ms: host.clockAheadMs,
  };
}

function frozenOf({ doing }: Host): HostView['frozen'] {
  const folders = doing.sees?.folders ?? [];
  return folders.flatMap(({ path, state, why }) => (state === 'frozen' ? [{ path, why }] : []));
}

/** Whether its last report may still be true. */
export function isAtWork({ isHeard, isStopped }: Host): boolean {
  return isHeard && !isStopped;
}

/** Whether it takes files. */
export function mayTake(host: Host): boolean {
  return isAtWork(host) && host.draining === null;
}

function hostState(host: Host): HostView['state'] {
  if (host.isStopped) return 'stopped';
  if (!host.isHeard) return 'silent';
  if (host.draining === null) return 'running';
  return host.doing.work.length === 0 ? 'drained' : 'draining';
}

/** States before the upload ended. From then on the service has the file, and any host can poll it. */
const needBytes: readonly string[] = ['queued', 'awaiting upload', 'retrying'];

async function countWaiting(host: Host, hosts: readonly Host[], ledger: FleetLedger | null): Promise<number> {
  if (ledger === null || mayTake(host)) return 0;
  const others = new Set(hosts.filter(mayTake).flatMap(({ doing }) => doing.places));
  const alone = host.doing.places.filter((place) => !others.has(place));
  const counts = await Promise.all(alone.map((folder) => ledger.selection.count({ folder, states: needBytes })));
  return counts.reduce((sum, files) => sum + files, 0);
}

/** The host that works on a file now, as far as this one knows; null: none does. */
export function workerOf(fleet: FleetView, id: string): string | null {
  const works = othersAtWork(fleet).find(({ doing }) => doing.work.some((work) => work.id === id));
  return works?.name ?? null;
}

/** The other host that currently does the work that only one does for all; null: this one does, or none. */
export function withTurn(fleet: FleetView): string | null {
  return othersAtWork(fleet).find(({ doing }) => doing.rounds !== undefined)?.name ?? null;
}

/** The other hosts whose state is known. */
export function othersAtWork(fleet: FleetView) {
  return fleet.known().filter((host) => host.name !== fleet.self && isAtWork(host));
}

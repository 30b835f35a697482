import type { Ledger } from '../../ledger/ledger.ts';
import type { FleetView, Host } from './fleet-view.ts';

/** A fleet member as shown to commands, the page and programs. Times are epoch milliseconds. */
export interface HostView {
  readonly name: string;
  /** Whether this is the host that responds. */
  readonly here: boolean;
  /**
   * `draining`: finishing its steps; `drained`: nothing is running there; `silent`: no report for 15 s; `stopped`: shut
   * down cleanly.
   */
  readonly state: 'running' | 'draining' | 'drained' | 'silent' | 'stopped';
  readonly version: string;
  /** The schema version that the host supports. */
  readonly schema: number;
  readonly started_at: number;
  readonly heard_at: number;
  readonly draining: { readonly since: number; readonly by: string } | null;
  /** `slots`: maximum number of simultaneous uploads. `uploads`: those in progress. */
  readonly slots: number;
  readonly uploads: number;
  /** Combined upload rate; null: not measured. */
  readonly bytes_per_second: number | null;
  /** Files whose rows the host holds, uploads included. */
  readonly working: number;
  /** Folders that the host can read, as named in rows. */
  readonly places: readonly string[];
  /** Files waiting because no other running host can read their folders. */
  readonly waiting: number;
  /** The host's unusable folders. */
  readonly frozen: readonly { readonly path: string; readonly why: string | null }[];
  /** How far the host's clock is ahead of the database's; null: not measured yet. */
  readonly clock_ahead_ms: number | null;
}

/** The members of a fleet; null on a single host. */
export interface FleetStatus {
  /** When the database stopped responding; the status is as of then. Null: it is responding. */
  readonly away_since: number | null;
  /** Which database is not responding, since when, and why: a sentence without its full stop. */
  readonly away: string | null;
  readonly hosts: readonly HostView[];
}

/** The ledger query that counts files. */
export type FleetLedger = Pick<Ledger, 'counts'>;

/**
 * Returns the members' latest reports. @param ledger counts the files waiting for a silent member; null: not counted
 */
export async function fleetStatusOf(fleet: FleetView, ledger: FleetLedger | null): Promise<FleetStatus> {
  const hosts = fleet.known();
  const views = await Promise.all(
    hosts.map(async (host) => hostView(host, fleet.self, await countWaiting(host, hosts, ledger))),
  );
  return { away_since: fleet.awaySince(), away: fleet.whyAway(), hosts: views };
}

/** Builds a host's view. Pure. @param waiting number of files that only this host can take */
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

/** Whether the host's last report may still be true. */
export function isAtWork({ isHeard, isStopped }: Host): boolean {
  return isHeard && !isStopped;
}

/** Whether the host accepts new files. */
export function mayTake(host: Host): boolean {
  return isAtWork(host) && host.draining === null;
}

function hostState(host: Host): HostView['state'] {
  if (host.isStopped) return 'stopped';
  if (!host.isHeard) return 'silent';
  if (host.draining === null) return 'running';
  return host.doing.work.length === 0 ? 'drained' : 'draining';
}

/** States before the upload finishes. Afterwards the service has the file, and any host can poll it. */
const needBytes: readonly string[] = ['queued', 'awaiting upload', 'retrying'];

async function countWaiting(host: Host, hosts: readonly Host[], ledger: FleetLedger | null): Promise<number> {
  if (ledger === null || mayTake(host)) return 0;
  const others = new Set(hosts.filter(mayTake).flatMap(({ doing }) => doing.places));
  const alone = host.doing.places.filter((place) => !others.has(place));
  const counts = await Promise.all(
    alone.map(async (folder) => {
      const [count] = await ledger.counts({ where: { folder, states: needBytes }, by: [] });
      return count?.files ?? 0;
    }),
  );
  return counts.reduce((sum, files) => sum + files, 0);
}

/** The other host known to be working on a file now; null: none. */
export function workerOf(fleet: FleetView, id: string): string | null {
  const works = othersAtWork(fleet).find(({ doing }) => doing.work.some((work) => work.id === id));
  return works?.name ?? null;
}

/** The other host that currently does the work that only one host does for all; null: this host does, or none. */
export function withTurn(fleet: FleetView): string | null {
  return othersAtWork(fleet).find(({ doing }) => doing.rounds !== undefined)?.name ?? null;
}

/** The other hosts whose state is known. */
export function othersAtWork(fleet: FleetView) {
  return fleet.known().filter((host) => host.name !== fleet.self && isAtWork(host));
}

import type { Clock } from '../pipeline/file/ports.ts';
import type { Fleet, Host } from '../view/hosts/fleet-view.ts';
import { heardMs } from './host-table.ts';
import type { HostTable, TableRead } from './host-table.ts';

export interface TableFleetWorld {
  readonly table: HostTable;
  /** See `FleetView.hostsOf`. */
  hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** See `FleetView.awaySince`. */
  awaySince(): number | null;
  /** See `FleetView.whyAway`. */
  whyAway(): string | null;
  /** Name of this host. */
  readonly name: string;
  readonly clock: Pick<Clock, 'now'>;
}

/** Rows, and the times on this host's clock between which they were read (epoch milliseconds). */
export interface TimedRead extends TableRead {
  readonly askedAt: number;
  readonly answeredAt: number;
}

/** The fleet's members as listed in their table. Used by members, and by commands on hosts without a daemon. */
export class TableFleet implements Fleet {
  readonly self: string;
  readonly #world: TableFleetWorld;
  #hosts: readonly Host[] = [];

  constructor(world: TableFleetWorld) {
    this.#world = world;
    this.self = world.name;
  }

  known(): readonly Host[] {
    return this.#hosts;
  }

  async hosts(): Promise<readonly Host[]> {
    const { table, clock } = this.#world;
    const askedAt = clock.now();
    const read = await table.read();
    return this.take({ ...read, askedAt, answeredAt: clock.now() });
  }

  /** Accepts rows that other code has read. */
  take(read: TimedRead): readonly Host[] {
    this.#hosts = hostsIn(read);
    return this.#hosts;
  }

  hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return ids.length === 0 ? Promise.resolve(new Map()) : this.#world.hostsOf(ids);
  }

  awaySince(): number | null {
    return this.#world.awaySince();
  }

  whyAway(): string | null {
    return this.#world.whyAway();
  }

  async drain(name: string, by: string | null): Promise<Host | null> {
    const isThere = await this.#world.table.drain(name, by);
    const hosts = await this.hosts();
    return isThere ? (hosts.find((host) => host.name === name) ?? null) : null;
  }

  async forget(name: string): Promise<'forgotten' | 'running' | 'unknown'> {
    const isRemoved = await this.#world.table.remove(name);
    const hosts = await this.hosts();
    if (isRemoved) return 'forgotten';
    return hosts.some((host) => host.name === name) ? 'running' : 'unknown';
  }
}

/** Returns how far this host's clock is ahead of the database's, in milliseconds. Pure. */
export function aheadOf({ at, askedAt, answeredAt }: TimedRead): number {
  return Math.round((askedAt + answeredAt) / 2 - at);
}

/** Returns the hosts with times converted to this host's clock. Pure. */
function hostsIn(read: TimedRead): readonly Host[] {
  const ahead = aheadOf(read);
  return read.hosts.map((host) => ({
    ...host,
    startedAt: host.startedAt + ahead,
    heardAt: host.heardAt + ahead,
    isHeard: read.at - host.heardAt < heardMs,
    draining: host.draining && { ...host.draining, since: host.draining.since + ahead },
  }));
}

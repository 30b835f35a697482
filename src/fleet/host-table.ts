import type { Doing, Draining, Host, Fleet } from '../view/hosts/fleet-view.ts';
import type { Clock } from '../pipeline/file/ports.ts';

/** Runs one statement. Rejects with the pool's error if the database is unreachable. */
export type Ask = (text: string, values: readonly unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** How long a member counts as running after its last report, in milliseconds; equals the duration of its leases. */
export const heardMs = 15_000;

/** Time without a report after which a member's row is removed, in milliseconds. */
const forgottenMs = 30 * 86_400_000;

/** The row that a member writes about itself. */
export interface OwnRow {
  readonly name: string;
  /** Random id, new for each start. */
  readonly instance: string;
  readonly version: string;
  readonly schema: number;
  readonly clockAheadMs: number | null;
  readonly doing: Doing;
}

interface TableRead {
  /** Time of the read on the database's clock, in epoch milliseconds. */
  readonly at: number;
  readonly hosts: readonly StoredHost[];
}

/** A stored row. Its times are on the database's clock. */
export interface StoredHost extends Omit<Host, 'isHeard'> {
  readonly instance: string;
}

export interface HostTable {
  /**
   * Writes a member's row and reads all rows, in one statement.
   *
   * @param replaced the previous instance, known to have stopped; null: unknown
   * @returns `isOurs`: false if a running member has the name; nothing was written
   */
  beat(row: OwnRow, replaced: string | null): Promise<TableRead & { readonly isOurs: boolean }>;
  read(): Promise<TableRead>;
  /** Records a member's clean shutdown and frees its name. */
  leave(name: string, instance: string): Promise<void>;
  /**
   * Drains a member, or lets it start work again.
   *
   * @param by who drains it; null ends the drain
   * @returns whether the member exists
   */
  drain(name: string, by: string | null): Promise<boolean>;
  /** Removes a member that has stopped or not reported recently. @returns whether a row was removed */
  remove(name: string): Promise<boolean>;
}

export function createHostTable(ask: Ask): HostTable {
  return {
    beat: async (row, replaced) => {
      const { name, instance, version, schema, clockAheadMs, doing } = row;
      const rows = await ask(beatText, [
        name,
        instance,
        version,
        schema,
        clockAheadMs,
        JSON.stringify(doing),
        replaced,
      ]);
      return { ...readOf(rows), isOurs: rows.some((each) => each['name'] === name && each['instance'] === instance) };
    },
    read: async () => readOf(await ask(`SELECT ${columns} FROM dropcast.host ORDER BY name`, [])),
    leave: async (name, instance) => {
      await ask(
        `UPDATE dropcast.host SET stopped_at = ${now}, heard_at = ${now}, doing = jsonb_set(doing::jsonb, '{work}', '[]')::text
          WHERE name = $1 AND instance = $2`,
        [name, instance],
      );
    },
    drain: async (name, by) => {
      // A repeated request keeps the original start time.
      const text = `UPDATE dropcast.host SET draining_by = $2,
        draining_since = CASE WHEN $2::text IS NULL THEN NULL ELSE coalesce(draining_since, ${now}) END
        WHERE name = $1 RETURNING name`;
      return (await ask(text, [name, by])).length > 0;
    },
    remove: async (name) => {
      const text = `DELETE FROM dropcast.host WHERE name = $1 AND (stopped_at IS NOT NULL OR heard_at < ${now} - ${heardMs}) RETURNING name`;
      return (await ask(text, [name])).length > 0;
    },
  };
}

const now = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

const columns = `name, instance, version, schema, started_at, heard_at, stopped_at, clock_ahead_ms, draining_since, draining_by,
  doing, ${now} AS at`;

/**
 * Writes a member's row and reads all rows. The statement's snapshot lacks the row just written, so that row comes from
 * `beat`.
 */
const beatText = `WITH gone AS (
    DELETE FROM dropcast.host WHERE heard_at < ${now} - ${forgottenMs} AND name <> $1
  ), beat AS (
    INSERT INTO dropcast.host AS host (name, instance, version, schema, started_at, heard_at, clock_ahead_ms, doing)
      VALUES ($1, $2, $3, $4, ${now}, ${now}, $5, $6)
    ON CONFLICT (name) DO UPDATE SET instance = excluded.instance, version = excluded.version, schema = excluded.schema,
      heard_at = excluded.heard_at, stopped_at = NULL, clock_ahead_ms = excluded.clock_ahead_ms, doing = excluded.doing,
      started_at = CASE WHEN host.instance = excluded.instance THEN host.started_at ELSE excluded.started_at END
      WHERE host.instance IN (excluded.instance, $7::text) OR host.stopped_at IS NOT NULL OR host.heard_at < ${now} - ${heardMs}
    RETURNING *
  )
  SELECT ${columns} FROM beat
  UNION ALL SELECT ${columns} FROM dropcast.host WHERE name <> $1 OR NOT EXISTS (SELECT FROM beat)
  ORDER BY name`;

function readOf(rows: readonly Readonly<Record<string, unknown>>[]): TableRead {
  return { at: Number(rows[0]?.['at'] ?? Number.NaN), hosts: rows.map(hostOf) };
}

function hostOf(row: Readonly<Record<string, unknown>>): StoredHost {
  const numberOrNull = (value: unknown): number | null =>
    value === null || value === undefined ? null : Number(value);
  const since = numberOrNull(row['draining_since']);
  const draining: Draining | null = since === null ? null : { since, by: textOf(row['draining_by']) };
  return {
    name: textOf(row['name']),
    instance: textOf(row['instance']),
    version: textOf(row['version']),
    schema: Number(row['schema']),
    startedAt: Number(row['started_at']),
    heardAt: Number(row['heard_at']),
    isStopped: row['stopped_at'] !== null,
    clockAheadMs: numberOrNull(row['clock_ahead_ms']),
    draining,
    doing: { ...nothing, ...(JSON.parse(textOf(row['doing'])) as Partial<Doing>) },
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Defaults for what a member of another version does not report. */
export const nothing: Doing = { slots: 0, places: [], work: [] };

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

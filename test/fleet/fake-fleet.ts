import type { Fleet, Host, HostWork } from '../../src/view/hosts/fleet-view.ts';

export const noon = new Date('2026-11-22T12:00:00').getTime();

/** A host that runs and does nothing. */
export function someHost(name: string, other: Partial<Host> = {}): Host {
  return {
    name,
    version: '0.3.0',
    schema: 4,
    startedAt: noon - 3_600_000,
    heardAt: noon,
    isHeard: true,
    isStopped: false,
    clockAheadMs: 0,
    draining: null,
    doing: { slots: 4, places: [], work: [] },
    ...other,
  };
}

export const someUpload: NonNullable<HostWork['upload']> = {
  sentBytes: 400,
  sizeBytes: 1_000,
  idleMs: 0,
  bytesPerSecond: 50,
};

/** Why it is away. */
export const awayWhy = 'PostgreSQL at db.example.com has not answered since 14:02: connection refused (ECONNREFUSED)';

/** A fleet in memory, seen from its first host. */
export class FakeFleet implements Fleet {
  readonly self: string;
  members: Host[];
  away: number | null = null;
  /** By file: who wrote its row last. */
  readonly writers = new Map<string, string>();

  constructor(...members: Host[]) {
    this.members = members;
    this.self = members[0]?.name ?? '';
  }

  known(): readonly Host[] {
    return this.members;
  }

  async hosts(): Promise<readonly Host[]> {
    return this.members;
  }

  async hostsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return new Map(ids.flatMap((id) => (this.writers.has(id) ? [[id, this.writers.get(id) ?? '']] : [])));
  }

  awaySince(): number | null {
    return this.away;
  }

  whyAway(): string | null {
    return this.away === null ? null : awayWhy;
  }

  async drain(name: string, by: string | null): Promise<Host | null> {
    this.change(name, { draining: by === null ? null : { since: noon, by } });
    return this.members.find((host) => host.name === name) ?? null;
  }

  async forget(name: string): Promise<'forgotten' | 'running' | 'unknown'> {
    const host = this.members.find((each) => each.name === name);
    if (host === undefined) return 'unknown';
    if (host.isHeard && !host.isStopped) return 'running';
    this.members = this.members.filter((each) => each !== host);
    return 'forgotten';
  }

  /** What a test wants to be different about one of them. */
  change(name: string, other: Partial<Host>): void {
    this.members = this.members.map((host) => (host.name === name ? { ...host, ...other } : host));
  }
}

import { Random } from '../../reliability/simulation/machine/random.ts';
import { VirtualTime } from './virtual-time.ts';

/** How leases, turns and hosts keep in touch with PostgreSQL, in milliseconds. */
export interface LeaseTimes {
  /** Each host touches all its leases, and the turn, with one statement. */
  readonly beatMs: number;
  /** A lease that was not touched for so long is free. */
  readonly heartbeatMs: number;
  /** One pass of all hosts together finds those; each host asks whether it is its turn to. */
  readonly monitorMs: number;
  /** A host with a free slot looks for work. */
  readonly lookMs: number;
  /** A host writes its row. */
  readonly rowMs: number;
}

export const leaseTimes: LeaseTimes = {
  beatMs: 2_500,
  heartbeatMs: 10_000,
  monitorMs: 2_000,
  lookMs: 1_000,
  rowMs: 5_000,
};

export interface LeasePlay {
  readonly seed: number;
  readonly hosts: number;
  /** Of each host. */
  readonly leases: number;
  readonly kills: number;
  /** Whether each host looks and beats at moments of its own; else all at once. */
  readonly isSpread?: boolean;
  readonly times?: LeaseTimes;
}

export interface LeaseReport {
  /** From the death of a host to the moment when another has its file, in seconds, sorted. */
  readonly takeovers: readonly number[];
  /** Files that a host took from one that lives. */
  readonly stolen: number;
  readonly statements: { readonly perSecond: number; readonly peak: number };
}

/** One touch, one look for the turn, one row, and asking for the pass of the monitor: what a host does while nothing happens. */
const quietMs = 60_000;

/** Leases of hosts that are killed one after the other, and start again a minute later. Statements take no time. */
export async function playLeases(play: LeasePlay): Promise<LeaseReport> {
  const { seed, hosts, leases, kills, isSpread = true, times = leaseTimes } = play;
  const random = new Random(seed, 'leases');
  const time = new VirtualTime();
  const isAlive = Array.from({ length: hosts }, () => true);
  /** Who has each file, when it was touched last, and since when it is free. */
  const files = Array.from({ length: hosts * leases }, (_, n) => ({ host: n % hosts, touched: 0, isFree: false }));
  const diedAt = new Map<number, number>();
  const takeovers: number[] = [];
  let [stolen, statements, monitoredAt] = [0, 0, -Infinity];

  for (let host = 0; host < hosts; host += 1) {
    const each = (ms: number, action: () => void): void =>
      time.every(ms, isSpread ? random.between(0, ms) : ms, () => {
        if (isAlive[host] === true) action();
      });
    each(times.beatMs, () => {
      statements += 1;
      for (const file of files) if (file.host === host && !file.isFree) file.touched = time.now;
    });
    each(times.monitorMs, () => {
      statements += 1;
      if (time.now - monitoredAt < times.monitorMs) return;
      monitoredAt = time.now;
      statements += 1;
      for (const file of files) if (time.now - file.touched > times.heartbeatMs) file.isFree = true;
    });
    each(times.lookMs, () => {
      statements += 1;
      const free = files.find((file) => file.isFree);
      if (free === undefined) return;
      statements += 1;
      const died = diedAt.get(free.host);
      if (isAlive[free.host] === true) stolen += 1;
      else if (died !== undefined) takeovers.push((time.now - died) / 1_000);
      Object.assign(free, { host, touched: time.now, isFree: false });
    });
    each(times.rowMs, () => void (statements += 1));
  }
  for (let kill = 0; kill < kills; kill += 1) {
    time.after(quietMs * (kill + 1) + random.between(0, 10_000), () => {
      const victim = random.below(hosts);
      isAlive[victim] = false;
      diedAt.set(victim, time.now);
      time.after(quietMs - 15_000, () => void (isAlive[victim] = true));
    });
  }
  let peak = 0;
  while (time.now < quietMs * (kills + 1)) {
    const before = statements;
    await time.run(1_000);
    peak = Math.max(peak, statements - before);
  }
  const perSecond = statements / (time.now / 1_000);
  return { takeovers: takeovers.toSorted((one, other) => one - other), stolen, statements: { perSecond, peak } };
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Finding } from '../planted/scenario.ts';
import { Random } from '../simulation/machine/random.ts';
import { bytes } from './bytes.ts';
import type { FleetMember } from './fleet-member.ts';
import { openFleetWorld } from './fleet-world.ts';
import type { FleetWorld } from './fleet-world.ts';
import type { FleetTotals } from './totals.ts';

/** What a storm did, and what came of it. */
export interface StormTotals extends FleetTotals {
  readonly kills: number;
  readonly stops: number;
  readonly cuts: number;
  readonly outages: number;
  readonly crashes: number;
  readonly failovers: number;
}

export interface StormResult {
  readonly violations: readonly Finding[];
  readonly totals: StormTotals;
}

const files = 60;
const tenMinutes = 600_000;

/** A minute and a half in which members and PostgreSQL fail in an order that the seed decides, while files come. */
export async function playStorm(seed: number, program: string): Promise<StormResult> {
  const random = new Random(seed, 'storm');
  const clocksMs = [0, 0, 0].map(() => (random.chance(0.3) ? random.pick([-tenMinutes, tenMinutes]) : 0));
  const hasStandby = random.chance(0.4);
  await using world = await openFleetWorld({
    program,
    clocksMs,
    hasStandby,
    requestsPerHour: 4_000,
    mostRequests: 4_000,
  });
  const storm = new RandomStorm(world, random);
  await Promise.all([dropAll(world, random), storm.play()]);
  if (hasStandby) await storm.failOver();
  await world.settles();
  const violations = await world.judge();
  return { violations, totals: { ...world.totals(), ...storm.counts } };
}

/** In one line. */
export function shownStorm(totals: StormTotals): string {
  const { lateWritesRefused, worstHour, ...others } = totals;
  const counts = Object.entries(others).map(([what, count]) => `${count} ${what}`);
  return `${counts.join(', ')}, ${lateWritesRefused} late writes refused, ${worstHour} requests in the worst hour`;
}

/** Pure: the sum, but the worst of all hours. */
export function sumOfStorms(all: readonly StormTotals[]): StormTotals {
  return all.reduce((sum, one) => {
    const names = Object.keys(sum) as (keyof StormTotals)[];
    const added = Object.fromEntries(names.map((name) => [name, sum[name] + one[name]])) as unknown as StormTotals;
    return { ...added, worstHour: Math.max(sum.worstHour, one.worstHour) };
  });
}

async function dropAll(world: FleetWorld, random: Random): Promise<void> {
  for (let n = 0; n < files; n += 1) {
    const owner = random.chance(0.15) ? random.pick(world.members) : undefined;
    await world.drop(`${n}.mpg`, bytes(Math.round(random.between(2_000, 200_000))), owner);
    await delay(random.between(0, 1_000));
  }
}

class RandomStorm {
  readonly counts = { kills: 0, stops: 0, cuts: 0, outages: 0, crashes: 0, failovers: 0 };
  readonly #world: FleetWorld;
  readonly #random: Random;
  readonly #struck = new Map<FleetMember, Promise<void>>();

  constructor(world: FleetWorld, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  /** Resolves when every member runs and reaches PostgreSQL. */
  async play(): Promise<void> {
    const faults = 8 + this.#random.below(6);
    for (let n = 0; n < faults; n += 1) {
      await delay(this.#random.between(500, 5_000));
      await this.#strike();
    }
    await this.#calm();
  }

  /** The standby lacks what came last. All members live, and have their receipts. */
  async failOver(): Promise<void> {
    await this.#world.standbyFallsBehind();
    for (let n = 0; n < 4; n += 1) await this.#world.drop(`late-${n}.mpg`, bytes(30_000 + n));
    await delay(this.#random.between(500, 5_000));
    this.counts.failovers += 1;
    await this.#world.failOver();
  }

  async #calm(): Promise<void> {
    await Promise.all(this.#struck.values());
  }

  async #strike(): Promise<void> {
    const kind = this.#random.pick(['kill', 'kill', 'kill', 'stop', 'stop', 'cut', 'outage', 'crash'] as const);
    if (kind === 'outage' || kind === 'crash') return this.#strikePostgres(kind);
    const free = this.#world.members.filter((member) => !this.#struck.has(member));
    if (free.length === 0) return;
    const member = this.#random.pick(free);
    const forMs = this.#random.pick([500, 5_000, 9_000, 14_000, 20_000]);
    const over = this.#strikeMember(kind, member, forMs).finally(() => this.#struck.delete(member));
    this.#struck.set(member, over);
  }

  async #strikeMember(kind: 'kill' | 'stop' | 'cut', member: FleetMember, forMs: number): Promise<void> {
    if (kind === 'kill') {
      this.counts.kills += 1;
      await member.end('SIGKILL');
      await delay(forMs);
      await member.startsAtLast();
    } else if (kind === 'stop') {
      this.counts.stops += 1;
      member.process().send('SIGSTOP');
      await delay(forMs);
      member.process().send('SIGCONT');
    } else {
      this.counts.cuts += 1;
      member.proxy.cut();
      await delay(forMs);
      member.proxy.mend();
    }
  }

  async #strikePostgres(kind: 'outage' | 'crash'): Promise<void> {
    const { cluster } = this.#world;
    this.counts[kind === 'crash' ? 'crashes' : 'outages'] += 1;
    await cluster.stop(kind === 'crash' ? 'immediate' : 'fast');
    if (kind === 'outage') await delay(this.#random.between(1_000, 8_000));
    await cluster.start();
  }
}

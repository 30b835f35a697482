import { describe, expect, test } from 'vitest';
import { besideOthers } from '../../../src/host/budget-store.ts';
import type { Sharing } from '../../../src/host/budget-store.ts';
import { playBudget } from './budget.ts';
import { leaseTimes, playLeases } from './leases.ts';

const seeds = [1, 2, 3];
const busy = { minutes: 30, limit: 1_020, restMs: 0 };

/** Planted: hosts look at the same moment, and none lets another go first. */
const herd = (random: () => number): Sharing => ({ ...besideOthers(random), delayMs: () => 0, pauseMs: () => 0 });
/** Planted: requests are counted ahead, and not given back before the next write. */
const hoarding = (random: () => number): Sharing => ({ ...besideOthers(random), ahead: () => 7, freshMs: Infinity });

describe('a budget of hosts that all want more than there is', () => {
  test.each([
    [1, 60],
    [4, 60],
    [50, 30],
    [200, 20],
  ])('is nearly used up by %i of them, within %i minutes', async (hosts, minutes) => {
    expect((await playBudget({ ...busy, seed: hosts, hosts, minutes })).use).toBeGreaterThan(0.95);
  });

  test.each(seeds)('gives each its share, with seed %i', async (seed) => {
    const few = await playBudget({ ...busy, seed, hosts: 4, minutes: 60 });
    expect(few.leastShare).toBeGreaterThan(0.8);
    const many = await playBudget({ ...busy, seed, hosts: 40, minutes: 90 });
    expect(many.leastShare).toBeGreaterThan(0.4);
    expect(many.longestWait).toBeLessThan(20);
  });

  test('takes only as many statements as there are hosts', async () => {
    const few = await playBudget({ ...busy, seed: 1, hosts: 20, minutes: 10 });
    const many = await playBudget({ ...busy, seed: 1, hosts: 200, minutes: 10 });
    expect(many.statements.perSecond / few.statements.perSecond).toBeLessThan(10);
    expect(many.statements.peak).toBeLessThan(300);
    expect(many.beaten).toBeLessThan(15);
  });

  test('a herd is seen: writes that are beaten, and all in one second', async () => {
    const { statements, beaten } = await playBudget({ ...busy, seed: 1, hosts: 200, minutes: 5, sharing: herd });
    expect(statements.peak).toBeGreaterThan(1_000);
    expect(beaten).toBeGreaterThan(50);
  });
});

describe('a budget of hosts that each want little', () => {
  const rare = { seed: 1, hosts: 50, minutes: 20, limit: 1_020, restMs: 150_000 };

  test('is nearly used up', async () => {
    expect((await playBudget(rare)).use).toBeGreaterThan(0.95);
  });

  test('requests that are kept from the others are seen', async () => {
    const { use } = await playBudget({ ...rare, sharing: hoarding });
    expect(use).toBeLessThan(0.8);
  });
});

test('the same seed gives the same play', async () => {
  const play = { ...busy, seed: 7, hosts: 10, minutes: 5 };
  expect(await playBudget(play)).toEqual(await playBudget(play));
});

describe('leases of hosts that die', () => {
  test.each([2, 4, 50, 200])(
    'are taken over within 15 s by the others of %i, and none of a host that lives',
    async (hosts) => {
      const { takeovers, stolen } = await playLeases({ seed: hosts, hosts, leases: 2, kills: hosts === 200 ? 10 : 30 });
      expect(takeovers.length).toBeGreaterThan(10);
      expect(takeovers.at(-1)).toBeLessThanOrEqual(15);
      expect(takeovers[0]).toBeGreaterThan(7);
      expect(stolen).toBe(0);
    },
  );

  test('take only as many statements as there are hosts', async () => {
    const perHost = async (hosts: number) => {
      const { statements } = await playLeases({ seed: 1, hosts, leases: 2, kills: 1 });
      return statements.perSecond / hosts;
    };
    expect((await perHost(200)) / (await perHost(4))).toBeLessThan(1.1);
  });

  test('a lease that is too short is seen', async () => {
    const times = { ...leaseTimes, heartbeatMs: 2_000 };
    const { stolen } = await playLeases({ seed: 1, hosts: 4, leases: 2, kills: 1, times });
    expect(stolen).toBeGreaterThan(0);
  });

  test('hosts that look at the same moment are seen', async () => {
    const of = (isSpread: boolean) => playLeases({ seed: 1, hosts: 200, leases: 1, kills: 1, isSpread });
    const [spread, together] = [await of(true), await of(false)];
    expect(spread.statements.peak / spread.statements.perSecond).toBeLessThan(1.3);
    expect(together.statements.peak / together.statements.perSecond).toBeGreaterThan(1.5);
  });
});

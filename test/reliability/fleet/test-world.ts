import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { startCluster } from '../../support/postgres/cluster.ts';
import type { Cluster } from '../../support/postgres/cluster.ts';
import { keptSeeds } from '../simulation/kept-seeds.ts';
import type { Report } from '../simulation/play.ts';
import { playAll } from '../simulation/players.ts';
import { inMemory } from './fleet-settings.ts';
import type { FleetWorldName } from './fleets.ts';
import type { FleetPlant } from './plants.ts';

interface WorldTests {
  /** What lives there. */
  readonly title: string;
  /** What the judge finds true of every life. */
  readonly promise: string;
  /** Plays this many seeds, besides those that found something once. */
  readonly lives: number;
  readonly plants: readonly FleetPlant[];
  /** What else is expected of all lives together. */
  expectOfAll?(reports: readonly Report[]): void;
}

/** Ends only what hangs. */
const patienceMs = 1_800_000;

/** Tests a simulated world on a real PostgreSQL: no life breaks a promise, and the judge sees each planted bug. */
export function testWorld(world: FleetWorldName, tests: WorldTests): void {
  const { title, promise, lives, plants, expectOfAll } = tests;
  describe(title, needs('postgres'), () => {
    let cluster: Cluster;
    beforeAll(async () => {
      cluster = await startCluster({ settings: inMemory });
    });
    afterAll(async () => {
      await cluster[Symbol.asyncDispose]();
    });
    const alike = () => ({ isLogged: false, twiceEvery: Infinity, world, postgres: cluster.url });

    test(
      `${lives} lives: ${promise}`,
      async () => {
        const seeds = [...(await keptSeeds(world)), ...range(lives)];
        const { reports } = await playAll({ ...alike(), seeds, jobs: 2 });
        const broken = reports.flatMap(({ seed, violations }) =>
          violations.map(({ invariant, found }) => `${invariant}: ${found}; ${replay(world, seed)}`),
        );
        expect(broken).toEqual([]);
        expect(reports).toHaveLength(seeds.length);
        expectOfAll?.(reports);
      },
      patienceMs,
    );

    test.each(plants.map((plant) => [plant.name, plant] as const))(
      'the judge sees a planted bug: %s',
      async (_, { breaks, seen, changes }) => {
        const isShown = ({ violations }: Report): boolean =>
          violations.some(({ invariant }) => breaks.some((one) => one === invariant));
        const seeds = [...new Set([...seen, ...range(100)])];
        const { reports } = await playAll({ ...alike(), seeds, jobs: 1, changes, until: isShown });
        expect(reports.some(isShown)).toBe(true);
      },
      patienceMs,
    );
  });
}

function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, n) => n + 1);
}

function replay(world: FleetWorldName, seed: number): string {
  return `node test/reliability/simulation/run.ts --world ${world} --replay ${seed}`;
}

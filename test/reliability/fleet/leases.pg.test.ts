import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { startCluster } from '../../support/postgres/cluster.ts';
import type { Cluster } from '../../support/postgres/cluster.ts';
import { keptSeeds } from '../simulation/kept-seeds.ts';
import type { Report } from '../simulation/play.ts';
import { playAll } from '../simulation/players.ts';
import { missingStates } from '../simulation/sometimes.ts';
import { inMemory, leaseStates } from './fleet-settings.ts';
import { fleetPlants } from './plants.ts';

/** The long run plays 5,000. */
const schedules = 200;

/** Ends only what hangs. */
const patienceMs = 1_800_000;

describe('leases of three members on a real PostgreSQL, in simulated time', needs('postgres'), () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ settings: inMemory });
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  test(
    `${schedules} schedules of faults: each file is completed once, by whoever holds it, and taken over in time`,
    async () => {
      const seeds = [...(await keptSeeds('leases')), ...Array.from({ length: schedules }, (_, n) => n + 1)];
      const { reports } = await playAll({
        seeds,
        jobs: 2,
        isLogged: false,
        twiceEvery: Infinity,
        world: 'leases',
        postgres: cluster.url,
      });
      const broken = reports.flatMap(({ seed, violations }) =>
        violations.map(({ invariant, found }) => `${invariant}: ${found}; ${replay(seed)}`),
      );
      expect(broken).toEqual([]);
      expect(reports).toHaveLength(seeds.length);
      expect(missingStates(reports, leaseStates)).toEqual([]);
    },
    patienceMs,
  );

  test.each(fleetPlants.filter(({ world }) => world === 'leases').map((plant) => [plant.name, plant] as const))(
    'the judge sees a planted bug: %s',
    async (_, plant) => {
      const isShown = ({ violations }: Report): boolean =>
        violations.some(({ invariant }) => plant.breaks.some((one) => one === invariant));
      const { reports } = await playAll({
        seeds: [...new Set([...plant.seen, ...Array.from({ length: 100 }, (_, n) => n + 1)])],
        jobs: 1,
        isLogged: false,
        changes: plant.changes,
        twiceEvery: Infinity,
        world: 'leases',
        postgres: cluster.url,
        until: isShown,
      });
      expect(reports.some(isShown)).toBe(true);
    },
    patienceMs,
  );
});

function replay(seed: number): string {
  return `node test/reliability/simulation/run.ts --world leases --replay ${seed}`;
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { startCluster } from '../../support/postgres/cluster.ts';
import type { Cluster } from '../../support/postgres/cluster.ts';
import type { Report } from '../simulation/play.ts';
import { playAll } from '../simulation/players.ts';
import { inMemory } from './fleet-settings.ts';
import { fleetPlants } from './plants.ts';

/** The long run plays thousands. */
const lives = 10;

/** Ends only what hangs. */
const patienceMs = 1_800_000;

describe('three whole members on a real PostgreSQL, in simulated time', needs('postgres'), () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ settings: inMemory });
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  test(
    `${lives} lives: each file is uploaded once, within the budget of all, and every publish that is wanted comes`,
    async () => {
      const seeds = Array.from({ length: lives }, (_, n) => n + 1);
      const { reports } = await playAll({ ...alike, seeds, jobs: 2, postgres: cluster.url });
      const broken = reports.flatMap(({ seed, violations }) =>
        violations.map(({ invariant, found }) => `${invariant}: ${found}; ${replay(seed)}`),
      );
      expect(broken).toEqual([]);
      expect(reports).toHaveLength(lives);
    },
    patienceMs,
  );

  test.each(fleetPlants.filter(({ world }) => world === 'fleet').map((plant) => [plant.name, plant] as const))(
    'the judge sees a planted bug: %s',
    async (_, plant) => {
      const isShown = ({ violations }: Report): boolean =>
        violations.some(({ invariant }) => plant.breaks.some((one) => one === invariant));
      const { reports } = await playAll({
        ...alike,
        seeds: [...new Set([...plant.seen, ...Array.from({ length: 100 }, (_, n) => n + 1)])],
        jobs: 1,
        changes: plant.changes,
        postgres: cluster.url,
        until: isShown,
      });
      expect(reports.some(isShown)).toBe(true);
    },
    patienceMs,
  );
});

const alike = { isLogged: false, twiceEvery: Infinity, world: 'fleet' } as const;

function replay(seed: number): string {
  return `node test/reliability/simulation/run.ts --world fleet --replay ${seed}`;
}

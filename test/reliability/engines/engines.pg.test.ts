import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { startCluster } from '../../support/postgres/cluster.ts';
import type { Cluster } from '../../support/postgres/cluster.ts';
import { inMemory } from '../fleet/fleet-settings.ts';
import { keptSeeds } from '../simulation/kept-seeds.ts';
import { playAll } from '../simulation/players.ts';
import { enginePlants } from './plants.ts';

const isLong = process.env['DROPCAST_LONG'] === '1';

/** The long run plays 500 besides. */
const seeds = isLong ? 40 : 3;

/** One takes as long as the seeds. */
const plants = isLong ? enginePlants : enginePlants.slice(0, 1);

/** Ends only what hangs. */
const patienceMs = 1_800_000;

describe('a whole daemon on SQLite and on PostgreSQL, in simulated time', needs('postgres'), () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ settings: inMemory });
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  test(
    `${seeds} lives: the same files, faults and kills leave the same on both`,
    async () => {
      const all = [...(await keptSeeds('engines')), ...Array.from({ length: seeds }, (_, n) => n + 1)];
      const { reports } = await playAll({ ...alike, seeds: all, jobs: 2, postgres: cluster.url });
      const differences = reports.flatMap(({ seed, violations }) =>
        violations.map(({ found }) => `${found}\n${replay(seed)}`),
      );
      expect(differences).toEqual([]);
      expect(reports).toHaveLength(all.length);
    },
    patienceMs,
  );

  test.concurrent.each(plants.map((plant) => [plant.name, plant] as const))(
    'a difference between them is seen: %s',
    async (_, { seen, changes }) => {
      const { reports } = await playAll({
        ...alike,
        seeds: [...new Set([...seen, ...Array.from({ length: 100 }, (_seed, n) => n + 1)])],
        jobs: 1,
        changes,
        postgres: cluster.url,
        until: ({ violations }) => violations.length > 0,
      });
      expect(reports.some(({ violations }) => violations.length > 0)).toBe(true);
    },
    patienceMs,
  );
});

const alike = { isLogged: false, twiceEvery: Infinity, world: 'engines' } as const;

function replay(seed: number): string {
  return `node test/reliability/simulation/run.ts --world engines --replay ${seed}`;
}

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.ts';
import { startCluster } from '../../support/postgres/cluster.ts';
import type { Cluster } from '../../support/postgres/cluster.ts';
import { inMemory } from '../fleet/fleet-settings.ts';
import { fleetPlants } from '../fleet/plants.ts';
import type { Report } from '../simulation/play.ts';
import { playAll } from '../simulation/players.ts';
import type { Replacement } from '../simulation/plants.ts';
import type { Recording } from './recorder.ts';

describe('the recording of a fleet', needs('postgres'), () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster({ settings: inMemory });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  test('has three hosts, and each file in the state that the ledger has, with green lights', async () => {
    const recording = await recordingOf([3]);
    expect(recording?.hosts.map(({ name }) => name)).toEqual(['ingest1', 'ingest2', 'ingest3']);
    expect(recording?.hosts.every(({ moves }) => moves.some(({ state }) => state === 'running'))).toBe(true);
    const ends = recording?.files.map(({ id, moves }) => [id, moves.at(-1)?.state] as const);
    expect(Object.keys(recording?.ledger ?? {}).length).toBeGreaterThan(0);
    expect(Object.fromEntries(ends ?? [])).toEqual(recording?.ledger);
    expect(recording?.lights.filter(({ brokenAt }) => brokenAt !== null)).toEqual([]);
  });

  test('has a red light at the moment that the judge names', async () => {
    const { changes = [], seen = [] } = fleetPlants.find(({ name }) => name === 'a budget for each host') ?? {};
    const recording = await recordingOf([...seen, 5, 10, 20, 25, 30], changes);
    const light = recording?.lights.find(({ id }) => id === 'no rolling hour has more requests than the budget');
    expect(light?.found).toMatch(/^11 requests in the hour before \d/);
    expect(light?.brokenAt).toBe(Math.floor(Number(light?.found.split(' ').at(-1))));
  });

  /** The first life with a violation; the first of all when there is none. */
  async function recordingOf(
    seeds: readonly number[],
    changes: readonly Replacement[] = [],
  ): Promise<Recording | null> {
    const order = { seeds, changes, jobs: 1, isLogged: false, isRecorded: true, twiceEvery: Infinity };
    const until = ({ violations }: Report): boolean => violations.length > 0;
    const { reports } = await playAll({ ...order, world: 'fleet', postgres: cluster.url, until });
    return (reports.find(({ violations }) => violations.length > 0) ?? reports[0])?.recording ?? null;
  }
});

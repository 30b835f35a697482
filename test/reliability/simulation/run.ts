import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { World } from './play.ts';
import { playAll } from './players.ts';
import { keepSeeds, keptSeeds } from './kept-seeds.ts';
import { startCluster } from '../../support/postgres/cluster.ts';
import { enginePlants } from '../engines/plants.ts';
import { fleetPlants } from '../fleet/plants.ts';
import { engineStates, fleetStates, inMemory, leaseStates } from '../fleet/fleet-settings.ts';
import { changesOf, plants } from './plants.ts';
import { missingStates } from './sometimes.ts';

// node test/reliability/simulation/run.ts --seeds 100000 --from 1
// node test/reliability/simulation/run.ts --replay 114
// node test/reliability/simulation/run.ts --world fleet --seeds 1000
// node test/reliability/simulation/run.ts --world engines --seeds 500

const { values } = parseArgs({
  options: {
    /** How many. */
    seeds: { type: 'string', default: '500' },
    from: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(Math.min(2, availableParallelism())) },
    /** Every n-th seed is played twice and must do the same. */
    'twice-every': {
      type: 'string',
      default: process.argv.some((one) => one === 'fleet' || one === 'engines') ? '10' : '1',
    },
    /** One seed, with all that happens. */
    replay: { type: 'string' },
    /** Puts a bug into the product first. */
    plant: { type: 'string' },
    /** `one host`, or `fleet`: three members on a PostgreSQL server, which is started here; `leases`: what they hold alone; `engines`: one host with SQLite, and with PostgreSQL. */
    world: { type: 'string', default: 'one host' },
  },
});

const world = values.world as World;
const isFleet = world !== 'one host';
const statesOf = { 'one host': undefined, engines: engineStates, fleet: fleetStates, leases: leaseStates } as const;
const changes =
  values.plant === undefined ? [] : changesOf(values.plant, isFleet ? [...fleetPlants, ...enginePlants] : plants);
await using cluster = isFleet ? await startCluster({ settings: inMemory }) : null;
const where = cluster === null ? {} : { world, postgres: cluster.url };
const replayed = `node test/reliability/simulation/run.ts ${isFleet ? `--world ${world} ` : ''}--replay`;
process.exitCode = values.replay === undefined ? await many() : await one(Number(values.replay));

async function one(seed: number): Promise<number> {
  const result = await playAll({ ...where, seeds: [seed], jobs: 1, isLogged: true, changes, twiceEvery: Infinity });
  for (const { invariant, found } of result.reports.flatMap(({ violations }) => violations))
    console.log(`VIOLATION ${invariant}: ${found}`);
  return result.reports.some(({ violations, isSame }) => violations.length > 0 || isSame === false) ? 1 : 0;
}

async function many(): Promise<number> {
  const count = Number(values.seeds);
  const fresh = Array.from({ length: count }, (_, n) => Number(values.from) + n);
  const kept = await keptSeeds(world);
  const seeds = [...new Set([...kept, ...fresh])];
  const started = performance.now();
  const { reports } = await playAll({
    ...where,
    seeds,
    jobs: Number(values.jobs),
    isLogged: false,
    changes,
    twiceEvery: Number(values['twice-every']),
    onProgress: (done, bad) => {
      if (count > 1_000 && done % 500 === 0)
        console.log(
          `${done} of ${seeds.length} seeds, ${bad} with a violation, ${Math.round((performance.now() - started) / 1000)} s`,
        );
    },
  });
  const bad = reports.filter(({ violations, isSame }) => violations.length > 0 || isSame === false);
  for (const { seed, violations, isSame } of bad) {
    if (isSame === false) console.log(`seed ${seed}: a second run did something else`);
    for (const { invariant, found } of violations) console.log(`seed ${seed}: ${invariant}: ${found}`);
    console.log(`  replay: ${replayed} ${seed}`);
  }
  const missing = count >= 500 ? missingStates(reports, statesOf[world]) : [];
  if (missing.length > 0) console.log(`never reached: ${missing.join(', ')}`);
  const twice = reports.filter(({ isSame }) => isSame !== null).length;
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(
    `${isFleet ? world : 'simulation'}: ${reports.length - bad.length} of ${seeds.length} seeds without a violation ` +
      `(${values.from} to ${Number(values.from) + count - 1}, and ${kept.length} kept), ${twice} played twice with the same log, ${seconds} s`,
  );
  if (values.plant === undefined) await keepSeeds(world, reports);
  return bad.length === 0 && missing.length === 0 && reports.length === seeds.length ? 0 : 1;
}

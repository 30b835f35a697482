import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { Report, World } from './play.ts';
import { playAll } from './players.ts';
import { keepSeeds, keptSeeds } from './kept-seeds.ts';
import { startCluster } from '../../support/postgres/cluster.ts';
import { addToTally } from '../tally.ts';
import { enginePlants } from '../engines/plants.ts';
import { fleetPlants } from '../fleet/plants.ts';
import { engineStates, fleetStates, inMemory, leaseStates } from '../fleet/fleet-settings.ts';
import { changesOf, plants } from './plants.ts';
import { missingStates } from './sometimes.ts';

const help = `node test/reliability/simulation/run.ts [options]

  --seeds N         how many (500)
  --from N          the first of them (1)
  --jobs N          processes at the same time (2, or 1 on one core)
  --twice-every N   plays every N-th seed twice, which must do the same (1; 10 for fleet and engines)
  --replay SEED     one seed, with all that happens
  --plant NAME      puts a bug into the product first; the names are in plants.ts of simulation, fleet and engines
  --world NAME      one host (the default); fleet: three members on a PostgreSQL server, which is started here; leases: what
                    they hold, alone; engines: one host with SQLite, and with PostgreSQL
  --tally           adds the run to test/reliability/tally.json, as the long run does
  --help            this text

Seeds that found something are played first, and noted in kept-seeds.json. Exit code 1: a violation, a second run that did
something else, or a state that no seed reached.`;

const worlds: readonly string[] = ['one host', 'fleet', 'leases', 'engines'] satisfies readonly World[];
const values = given();
const world = values.world as World;
const isFleet = world !== 'one host';
const statesOf = { 'one host': undefined, engines: engineStates, fleet: fleetStates, leases: leaseStates } as const;
const changes =
  values.plant === undefined ? [] : changesOf(values.plant, isFleet ? [...fleetPlants, ...enginePlants] : plants);
await using cluster = isFleet ? await startCluster({ settings: inMemory }) : null;
const where = cluster === null ? {} : { world, postgres: cluster.url };
const replayed = `node test/reliability/simulation/run.ts ${isFleet ? `--world ${world} ` : ''}--replay`;
process.exitCode = values.replay === undefined ? await many() : await one(Number(values.replay));

function given() {
  try {
    const { values } = parseArgs({
      options: {
        seeds: { type: 'string', default: '500' },
        from: { type: 'string', default: '1' },
        jobs: { type: 'string', default: String(Math.min(2, availableParallelism())) },
        'twice-every': {
          type: 'string',
          default: process.argv.some((one) => one === 'fleet' || one === 'engines') ? '10' : '1',
        },
        replay: { type: 'string' },
        plant: { type: 'string' },
        world: { type: 'string', default: 'one host' },
        tally: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (!worlds.includes(values.world)) throw new Error(`there is no world ${values.world}`);
    if (!values.help) return values;
    console.log(help);
    return process.exit(0);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return process.exit(2);
  }
}

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
    onReport: (report, done) => {
      // A run of hours may be cut: each violation is printed when it is found.
      if (isBad(report)) print(report);
      if (count > 1_000 && done % 500 === 0)
        console.log(`${done} of ${seeds.length} seeds, ${secondsSince(started)} s`);
    },
  });
  const bad = reports.filter(isBad);
  const missing = count >= 500 ? missingStates(reports, statesOf[world]) : [];
  if (missing.length > 0) console.log(`never reached: ${missing.join(', ')}`);
  const twice = reports.filter(({ isSame }) => isSame !== null).length;
  console.log(
    `${isFleet ? world : 'simulation'}: ${reports.length - bad.length} of ${seeds.length} seeds without a violation ` +
      `(${values.from} to ${Number(values.from) + count - 1}, and ${kept.length} kept), ${twice} played twice with the same log, ${secondsSince(started)} s`,
  );
  if (values.plant === undefined) await keepSeeds(world, reports);
  if (values.plant === undefined && values.tally) await tally(reports);
  return bad.length === 0 && missing.length === 0 && reports.length === seeds.length ? 0 : 1;
}

async function tally(reports: readonly Report[]): Promise<void> {
  const first = reports.find(isBad);
  const invariant = first?.violations[0]?.invariant ?? 'a second run does the same';
  await addToTally({
    seeds: reports.length,
    kills: reports.reduce((sum, { kills }) => sum + kills, 0),
    virtualMs: reports.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0),
    find: first === undefined ? null : { seed: `${world} ${first.seed}`, invariant },
  });
}

function isBad({ violations, isSame }: Report): boolean {
  return violations.length > 0 || isSame === false;
}

function print({ seed, violations, isSame }: Report): void {
  if (isSame === false) console.log(`seed ${seed}: a second run did something else`);
  for (const { invariant, found } of violations) console.log(`seed ${seed}: ${invariant}: ${found}`);
  console.log(`  replay: ${replayed} ${seed}`);
}

function secondsSince(started: number): number {
  return Math.round((performance.now() - started) / 1000);
}

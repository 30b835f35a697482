import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { startCluster } from '../../support/postgres/cluster.ts';
import { inMemory } from '../fleet/fleet-settings.ts';
import { fleetPlants } from '../fleet/plants.ts';
import { changesOf, plants } from '../simulation/plants.ts';
import { playAll } from '../simulation/players.ts';
import { pageOf } from './page.ts';

const help = `npm run playground [-- options]

Plays one life of the simulation and writes a page that replays it: hosts, files, faults and invariants.

  --seed N      which life, from 0 to 4294967295 (27)
  --fleet       three hosts on one PostgreSQL server, which is started for it
  --plant NAME  puts a bug into the product first, so that a light turns red; names: plants.ts of simulation and fleet
  --out FILE    where the page is written (build/playground.html)

Prints the path of the page, and each invariant that was broken. Exit code 2: an option is wrong.`;
const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
const options = { seed: text, fleet: flag, plant: text, out: text, help: flag } as const;

const wanted = given();
if (wanted.help === true) console.log(help);
else await record(wanted);

async function record({ seed, changes, fleet, out = 'build/playground.html' }: ReturnType<typeof given>) {
  await using cluster = fleet === true ? await startCluster({ settings: inMemory }) : null;
  const where = cluster === null ? {} : { world: 'fleet' as const, postgres: cluster.url };
  const order = { seeds: [seed], changes, jobs: 1, isLogged: false, isRecorded: true, twiceEvery: Infinity };
  const { reports } = await playAll({ ...where, ...order });
  await mkdir(dirname(out), { recursive: true });
  for (const { violations, recording } of reports) {
    if (recording !== null) await writeFile(out, pageOf(recording));
    for (const { invariant, found } of violations) console.error(`${invariant} is broken: ${found}`);
  }
  console.log(out);
}

function given() {
  try {
    const { seed = '27', plant, ...others } = parseArgs({ options }).values;
    if (!/^\d+$/.test(seed) || Number(seed) >= 2 ** 32)
      throw new Error(`--seed ${seed}: use a whole number from 0 to 4294967295`);
    const known = others.fleet === true ? fleetPlants : plants;
    return { ...others, seed: Number(seed), changes: plant === undefined ? [] : changesOf(plant, known) };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return process.exit(2);
  }
}

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { programFiles } from '../../scripts/package/contents.ts';
import { writeTree } from '../../scripts/package/packaged-file.ts';
import { has } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { Finding } from './planted/scenario.ts';
import { addToTally } from './tally.ts';
import type { Find } from './tally.ts';
import { longParts, replay } from './long.ts';
import type { LongPart } from './long.ts';
import type { Tools } from './kill/runs.ts';
import { compileLibrary, compileShim } from './kill/shim.ts';

// `npm run test:reliability`            the quick part
// `npm run test:reliability -- --long`  every planted bug, every kill, every error, 1,000 power cuts, 10,000 random kills, 100 storms over a fleet, 100,000 simulated seeds, 5,000 schedules of leases, 1,000 lives of whole fleets, 500 lives on both engines
// `npm run test:reliability -- --long --only leases`   those schedules alone; likewise `engines`, and `fleet` with the storms over one
// `npm run test:reliability -- --replay 'moved:before/137@quick'`

const root = join(import.meta.dirname, '../..');
const node = join(root, 'node_modules/.bin/node');

const { values: options } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    /** Of the long run: a name of a part. */
    only: { type: 'string' },
    replay: { type: 'string' },
    seed: { type: 'string', default: 'long' },
    /** Of the long run: so many of every 100 points and kills. */
    percent: { type: 'string', default: '100' },
  },
});

/** Lives on PostgreSQL, in simulated time: how many, and every how many one is played again and must do the same. */
const longWorlds = {
  leases: { seeds: 5_000, twiceEvery: 50 },
  engines: { seeds: 500, twiceEvery: 10 },
  fleet: { seeds: 1_000, twiceEvery: 10 },
} as const;

process.exitCode = await main();

async function main(): Promise<number> {
  if (options.replay === undefined && !options.long) return await vitest();
  // The explorer's longer bounds.
  if (options.long) process.env['DROPCAST_LONG'] = '1';
  await using scratch = await scratchDirectory();
  const tools = await prepare(scratch.path);
  if (options.replay !== undefined) return await replayOne(options.replay, tools);
  let bad = options.only === undefined ? await vitest() : 0;
  const sum = { seeds: 0, kills: 0, virtualMs: 0, find: null as Find | null };
  for (const part of longParts(options.seed, Number(options.percent) / 100)) {
    if (options.only !== undefined && !part.name.includes(options.only)) continue;
    const played = await runPart(part, tools);
    bad += played.bad;
    sum.kills += played.kills;
    sum.find ??= played.find;
  }
  const simulation = join(import.meta.dirname, 'simulation/run.ts');
  if (existsSync(simulation) && (options.only ?? 'simulation') === 'simulation')
    bad += await command([simulation, '--seeds', '100000', '--from', '1', '--tally']);
  for (const [world, { seeds, twiceEvery }] of has('postgres') ? Object.entries(longWorlds) : [])
    if ((options.only ?? world) === world)
      bad += await command([
        simulation,
        '--world',
        world,
        '--seeds',
        String(seeds),
        '--twice-every',
        String(twiceEvery),
        '--tally',
      ]);
  await addToTally(sum);
  return bad === 0 ? 0 : 1;
}

async function replayOne(name: string, tools: Tools): Promise<number> {
  const found = await replay(name, tools);
  if (found.length === 0) console.info(`${name}: nothing lost, doubled or left behind`);
  return report(name, found);
}

/** The program as the package has it. */
async function prepare(folder: string): Promise<Tools> {
  const { files } = await programFiles(root);
  await writeTree(files, folder, 0);
  const program = join(folder, 'usr/lib/dropcast/dist/main.js');
  const [shim, forgetful] = await Promise.all([compileShim(folder), compileLibrary('forgetful', folder)]);
  return { program, shim, forgetful, env: { NODE_COMPILE_CACHE: join(folder, 'compiled') } };
}

/** Several at a time: a run mostly waits. @returns how many went wrong, and what the tally needs */
async function runPart({ name, cases, atOnce = 6, summary }: LongPart, tools: Tools) {
  const all = await cases(tools);
  const queue = all.entries();
  const total = all.reduce((sum, { cells = 1 }) => sum + cells, 0);
  let [done, bad, good, kills] = [0, 0, 0, 0];
  const finds: Find[] = [];
  const work = async (): Promise<void> => {
    for (const [, one] of queue) {
      const found = await one.play(tools);
      const isBad = report(one.name, found);
      kills += one.kills?.() ?? 0;
      finds.push(...found.map(({ invariant }) => ({ seed: one.name, invariant })));
      bad += isBad;
      good += isBad === 0 ? (one.cells ?? 1) : 0;
      done += 1;
      if (done % 100 === 0) console.info(`${name}: ${done} of ${all.length}, ${bad} bad`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  console.info(`${name}: ${good} of ${total} (seed ${options.seed})`);
  if (summary !== undefined) console.info(`${name}: ${summary()}`);
  return { bad, kills, find: finds[0] ?? null };
}

function report(name: string, found: readonly Finding[]): number {
  if (found.length === 0) return 0;
  console.error(`\n${name}\n  npm run test:reliability -- --replay '${name}'`);
  for (const { invariant, what, evidence } of found) console.error(`  ${invariant}: ${what}: ${evidence}`);
  return 1;
}

function vitest(): Promise<number> {
  return command([join(root, 'node_modules/vitest/vitest.mjs'), 'run', 'test/reliability']);
}

function command(args: readonly string[]): Promise<number> {
  const child = spawn(node, [...args], { cwd: root, stdio: 'inherit' });
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

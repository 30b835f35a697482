import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { programFiles } from '../../../scripts/package/contents.ts';
import { writeTree } from '../../../scripts/package/packaged-file.ts';
import { plant, type Edit } from '../../reliability/planted/plant.ts';
import { scratchDirectory, type ScratchDirectory } from '../../support/scratch-directory.ts';
import { lifeNames, playNamed } from './lives.ts';
import { plantedBugs } from './planted.ts';
import { hurriedLife, type Lived } from './play-life.ts';
import { sumOf } from './reached.ts';

// `npm run test:profiles`                          lives of the daemon with each profile and with random switches, planted bugs, and recordings with each switch
// `npm run test:profiles -- --of-each 5 --random 100`   more lives; 0 for none
// `npm run test:profiles -- --replay lenient@2`    one life again

const root = join(import.meta.dirname, '../../..');

const { values: options } = parseArgs({
  options: {
    'of-each': { type: 'string', default: '1' },
    random: { type: 'string', default: '15' },
    replay: { type: 'string' },
    'at-once': { type: 'string', default: '4' },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  await using scratch = await scratchDirectory();
  const program = await build(scratch);
  const hurried = await copyWith(program, scratch, hurriedLife);
  if (options.replay !== undefined) return (await judged(options.replay, hurried)).isBad ? 1 : 0;
  const bad = await playAll(hurried);
  const missed = await playPlanted(program, scratch);
  return bad + missed + (await recordings()) === 0 ? 0 : 1;
}

/** The program as the package has it. */
async function build(scratch: ScratchDirectory): Promise<string> {
  const { files } = await programFiles(root);
  await writeTree(files, scratch.path, 0);
  return scratch.file('usr/lib/dropcast/dist/main.js');
}

function copyWith(program: string, scratch: ScratchDirectory, edits: readonly Edit[]): Promise<string> {
  return plant(program, scratch.file(`copy-${randomBytes(6).toString('hex')}`), edits);
}

/** @returns how many went wrong, and how much never happened */
async function playAll(program: string): Promise<number> {
  const names = lifeNames({ ofEach: Number(options['of-each']), random: Number(options.random) });
  if (names.length === 0) return 0;
  const lives = await severalAtOnce(names, (name) => judged(name, program));
  const reached = Object.entries(sumOf(lives.flatMap((life) => life.reached ?? [])));
  const bad = lives.filter(({ isBad }) => isBad).length;
  console.info(`lives: ${names.length - bad} of ${names.length} are as promised`);
  for (const [what, count] of reached) console.info(`  ${what}: ${count}`);
  return bad + reached.filter(([, count]) => count === 0).length;
}

/** A life mostly waits. */
async function severalAtOnce<Item, Result>(
  items: readonly Item[],
  play: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const queue = items.values();
  const results: Result[] = [];
  const work = async (): Promise<void> => {
    for (const item of queue) results.push(await play(item));
  };
  await Promise.all(Array.from({ length: Number(options['at-once']) }, work));
  return results;
}

async function judged(name: string, program: string): Promise<Lived & { readonly isBad: boolean }> {
  const life = await playNamed(name, program);
  const { requests, bytesSent } = life.spent;
  const verdict = life.flaws.length === 0 ? 'as promised' : 'not as promised';
  console.info(`${name}: ${verdict}; ${requests} requests, ${bytesSent} bytes sent`);
  if (life.flaws.length > 0) console.error(`  npm run test:profiles -- --replay ${name}`);
  for (const { invariant, what, evidence } of life.flaws) console.error(`  ${invariant}: ${what}: ${evidence}`);
  return { ...life, isBad: life.flaws.length > 0 };
}

/** @returns how many bugs the judge misses */
async function playPlanted(program: string, scratch: ScratchDirectory): Promise<number> {
  const caught = await severalAtOnce(Object.entries(plantedBugs), async ([bug, { edits, lives, caughtBy }]) => {
    const copy = await copyWith(program, scratch, [...hurriedLife, ...edits]);
    const catcher = await firstThatCatches(lives, caughtBy, copy);
    console.info(`planted: ${bug} → ${catcher ?? 'not caught'}`);
    return catcher !== null;
  });
  return caught.filter((isCaught) => !isCaught).length;
}

async function firstThatCatches(
  lives: readonly string[],
  caughtBy: readonly string[],
  program: string,
): Promise<string | null> {
  for (const name of lives) {
    const { flaws } = await playNamed(name, program, 15_000);
    const flaw = flaws.find(({ invariant }) => caughtBy.includes(invariant));
    if (flaw !== undefined) return `${flaw.invariant} (${name})`;
  }
  return null;
}

/** @returns the exit code */
function recordings(): Promise<number> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const test = 'test/recorder/shown-switches.integration.test.ts';
  const child = spawn(process.execPath, [vitest, 'run', test], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, DROPCAST_LONG: '1' },
  });
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

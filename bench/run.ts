import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { renderTable } from '../src/cli/output/table.ts';
import type { Bench, Build, Size } from './bench.ts';
import type { OpenBuild } from './build.ts';
import { checkOut, openHere, withFlags } from './build.ts';
import { measure } from './measure.ts';
import type { Result } from './measure.ts';
import { thisMachine, writeReport } from './report.ts';
import type { KeptResult } from './report.ts';
import { tableOf } from './table.ts';

const results = join(import.meta.dirname, 'results');

interface Options {
  readonly rounds?: number;
  readonly small?: true;
  readonly against?: string;
  readonly flags?: string;
}

const names = (await readdir(import.meta.dirname))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''))
  .toSorted();

const program = new Command('npm run bench --')
  .description('Measures, and compares each figure with its target. A full run is kept for docs/performance.md.')
  .argument('<name...>', `${names.join(', ')}, all, or report: writes docs/performance.md from the kept runs`)
  .option('--rounds <n>', 'how often each side is measured; the table shows the median', wholeNumber)
  .option('--small', 'a few seconds, to see that it works; nothing is kept')
  .option('--against <revision>', 'measure another commit beside this one, in turn')
  .option('--flags <flags>', 'measure this one beside itself on a Node with these flags, like --flags=--jitless')
  .action(run);
await program.parseAsync();

async function run(wanted: readonly string[], options: Options): Promise<void> {
  const unknown = wanted.find((name) => ![...names, 'all', 'report'].includes(name));
  if (unknown !== undefined)
    program.error(`error: there is no benchmark called '${unknown}': use ${names.join(', ')}`, { exitCode: 2 });
  await using here = await openHere();
  await using other = await otherBuild(here, options);
  const builds = other === undefined ? ([here] as const) : ([here, other] as const);
  for (const name of wanted.includes('all') ? names : wanted.filter((each) => each !== 'report'))
    await runOne(name, options, builds);
  if (!wanted.includes('report') && options.small === true) return;
  await writeReport(results);
}

async function otherBuild(here: Build, { against, flags }: Options): Promise<OpenBuild | undefined> {
  if (against !== undefined) return checkOut(against);
  return flags === undefined ? undefined : withFlags(here, flags);
}

async function runOne(name: string, options: Options, builds: readonly [Build, Build?]): Promise<void> {
  const { bench } = (await import(`./${name}.bench.ts`)) as { bench: Bench };
  const size: Size = options.small === true ? 'small' : 'full';
  const result = await measure(name, bench, {
    builds,
    size,
    rounds: options.rounds ?? (size === 'small' ? 1 : bench.rounds),
    progress: (text) => console.error(text),
  });
  print(result);
  // A comparison with another commit is of passing interest.
  if (size === 'full' && builds.length === 1) await keep(result);
}

function print(result: Result): void {
  console.log(`\n${result.name}: ${result.about}\n`);
  const [titles = [], ...rows] = tableOf(result);
  const columns = titles.map((title) => ({ title }));
  process.stdout.write(renderTable(columns, rows, { width: process.stdout.columns ?? Infinity, colour: false }));
  if (result.limit !== undefined) console.log(`\nThe limit: ${result.limit}`);
}

async function keep(result: Result): Promise<void> {
  await mkdir(results, { recursive: true });
  const kept: KeptResult = { ...result, date: new Date().toISOString().slice(0, 10), machine: thisMachine() };
  await writeFile(join(results, `${result.name}.json`), `${JSON.stringify(kept, null, 2)}\n`);
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('it must be a whole number from 1');
  return value;
}

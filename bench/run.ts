import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { renderTable } from '../src/cli/output/table.ts';
import type { Bench, Build, Size } from './bench.ts';
import { buildHere, checkOut, withCompiler, withFlags } from './build.ts';
import { leaveNothing } from './leave-nothing.ts';
import { limitOf, measure } from './measure.ts';
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
  .option('--against <revision>', 'measure another commit next to this one, in turn')
  .option('--flags <flags>', 'measure this one next to itself on a Node with these flags')
  .action(run);
leaveNothing();
await program.parseAsync();

async function run(wanted: readonly string[], options: Options): Promise<void> {
  const unknown = wanted.find((name) => ![...names, 'all', 'report'].includes(name));
  if (unknown !== undefined)
    program.error(`error: there is no benchmark called '${unknown}': use ${names.join(', ')}`, { exitCode: 2 });
  const chosen = wanted.includes('all') ? names : wanted.filter((each) => each !== 'report');
  if (chosen.length > 0) await measureAll(chosen, options);
  const isKept = options.small === undefined && options.against === undefined && options.flags === undefined;
  if (isKept || wanted.includes('report')) await writeReport(results);
}

async function measureAll(chosen: readonly string[], options: Options): Promise<void> {
  const here = await buildHere();
  const other = await otherOf(options, here);
  for (const name of chosen) {
    try {
      await runOne(name, options, here, other);
    } catch (error) {
      // The others are measured all the same.
      console.error(`${name} failed:`, error);
      process.exitCode = 1;
    }
  }
}

async function otherOf({ against, flags }: Options, here: Build): Promise<Build | undefined> {
  if (against !== undefined) return checkOut(against);
  return flags === undefined ? undefined : withFlags(here, flags);
}

async function runOne(name: string, options: Options, here: Build, other: Build | undefined): Promise<void> {
  const { bench } = (await import(`./${name}.bench.ts`)) as { bench: Bench };
  const size: Size = options.small === true ? 'small' : 'full';
  const isAlone = size === 'small' || bench.isOnlyAsShipped === true;
  const second = other ?? (isAlone ? undefined : await withCompiler(here));
  const result = await measure(name, bench, {
    builds: second === undefined ? [here] : [here, second],
    size,
    rounds: options.rounds ?? (size === 'small' ? 1 : bench.rounds),
    progress: (text) => console.error(text),
  });
  print(result);
  // A comparison with another commit or other flags is of passing interest.
  if (size === 'full' && other === undefined) await keep(result);
}

function print(result: Result): void {
  console.log(`\n${result.name}: ${result.about}\n`);
  const [titles = [], ...rows] = tableOf(result);
  const columns = titles.map((title) => ({ title }));
  process.stdout.write(renderTable(columns, rows, { width: process.stdout.columns ?? Infinity, colour: false }));
  const limit = limitOf(result);
  if (limit !== null) console.log(`\nThe limit: ${limit}`);
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

import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { isReached, limitOf } from './measure.ts';
import type { Result } from './measure.ts';
import { plotSvg } from './plot.ts';
import { tableOf } from './table.ts';

const docs = join(import.meta.dirname, '../docs');

/** Writes docs/performance.md and its plots from the kept runs. */
export async function writeReport(results: string): Promise<void> {
  const kept = (await readdir(results)).filter((file) => file.endsWith('.json')).toSorted();
  const texts = await Promise.all(kept.map((file) => readFile(join(results, file), 'utf8')));
  const all = texts.map((text) => JSON.parse(text) as KeptResult);
  await rm(join(docs, 'performance'), { recursive: true, force: true });
  await mkdir(join(docs, 'performance'));
  const sections = await Promise.all(all.map(sectionOf));
  await writeFile(join(docs, 'performance.md'), `${introduction(all)}\n${sections.join('\n')}`);
}

/** A result with when and where it was measured. */
export interface KeptResult extends Result {
  readonly date: string;
  readonly machine: string;
}

/** In words, for the report: processor, memory, system, Node. */
export function thisMachine(): string {
  const [first] = cpus();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  const model = first?.model.trim() ?? 'unknown processor';
  return `${cpus().length} × ${model}, ${gibibytes} GiB, Linux ${release()}, Node ${nodeVersion()}`;
}

function nodeVersion(): string {
  return execFileSync(process.execPath, ['--version']).toString().trim().slice(1);
}

function introduction(all: readonly KeptResult[]): string {
  const rows = all.flatMap((result) => result.rows.map(isReached)).filter((reached) => reached !== null);
  return `# Performance

Made by \`npm run bench -- all\`; never edited by hand. Each figure is the median of its rounds. Ratios compare two programs in the
same round, so they hold on other machines; times and sizes are this machine's. Where a target is missed, the text says what
the limit is made of. Daemons run with exactly the command line of the service's unit, which has no compiler; the column
"with the compiler" shows what that costs. \`npm run bench -- NAME --against REV\` compares two commits in one run.

${rows.filter(Boolean).length} of ${rows.length} targets are reached.
`;
}

async function sectionOf(result: KeptResult): Promise<string> {
  const { name, about, rounds, date, machine, plots } = result;
  const limit = limitOf(result);
  const [head = [], ...rows] = tableOf(result);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const pictures = await Promise.all(plots.map((plot, index) => pictureOf(`${name}-${index + 1}`, plot)));
  return [
    `## ${name}`,
    '',
    about,
    '',
    line(head),
    line(head.map(() => '---')),
    ...rows.map(line),
    '',
    ...(limit === null ? [] : [`**The limit:** ${limit}`, '']),
    ...pictures.flatMap((picture) => [picture, '']),
    `\`npm run bench -- ${name}\`, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${date}. ${machine}.`,
    '',
  ].join('\n');
}

async function pictureOf(name: string, plot: Result['plots'][number]): Promise<string> {
  await writeFile(join(docs, 'performance', `${name}.svg`), plotSvg(plot));
  return `![${plot.title}](performance/${name}.svg)`;
}

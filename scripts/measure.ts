import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { linkDependencies, workTree } from '../bench/build.ts';
import { leaveNothing } from '../bench/leave-nothing.ts';
import { renderTable } from '../src/cli/output/table.ts';
import { importFigures } from './measure/imports.ts';
import { typeFigures } from './measure/largest-types.ts';
import { lineFigures } from './measure/lines.ts';
import { compared, highest } from './measure/measure.ts';
import type { Compared, Part } from './measure/measure.ts';
import { cpuFigures, debFigures } from './measure/program.ts';
import { traceFigures } from './measure/trace.ts';

const parts: readonly Part[] = [
  { name: 'lines', figures: async (root) => lineFigures(root) },
  { name: 'types', most: 12, figures: async (root) => typeFigures(root) },
  { name: 'imports', figures: async (root) => importFigures(root) },
  { name: 'trace', figures: traceFigures },
  { name: 'cpu', isSlow: true, figures: cpuFigures },
  { name: 'deb', isSlow: true, figures: debFigures },
];
const names = parts.map(({ name }) => name).join(', ');

const usage = `npm run -s measure -- [--fast] [--only NAME] [--against REV] [--json]

How large and how entangled this checkout is: ${names}.

  --only NAME     one of them, as often as wanted
  --fast          without cpu and deb, which take minutes
  --against REV   another revision too, with these dependencies, and the difference
  --json          one document on stdout
`;

/** `npm run measure`: figures of this checkout, beside those of another revision. */
async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true },
      fast: { type: 'boolean', default: false },
      against: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return void process.stdout.write(usage);
  const chosen = choose(values.only, values.fast);
  leaveNothing();
  const other = values.against === undefined ? null : await checkOut(values.against);
  const figures: Record<string, readonly Compared[]> = {};
  for (const part of chosen) {
    figures[part.name] = await figuresOf(part, other);
    if (!values.json) print(part.name, figures[part.name] ?? [], values.against);
  }
  if (values.json) console.log(JSON.stringify({ v: 1, against: values.against ?? null, figures }));
}

function choose(only: readonly string[] | undefined, isFast: boolean): readonly Part[] {
  const unknown = only?.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined) throw new Error(`--only ${unknown}: use ${names}`);
  if (only !== undefined) return parts.filter(({ name }) => only.includes(name));
  return parts.filter(({ isSlow }) => !(isFast && isSlow === true));
}

async function checkOut(revision: string): Promise<string> {
  const folder = await workTree(revision);
  await linkDependencies(folder);
  return folder;
}

async function figuresOf(part: Part, other: string | null): Promise<readonly Compared[]> {
  const here = await part.figures(resolve(import.meta.dirname, '..'));
  const both = compared(here, other === null ? [] : await part.figures(other));
  return part.most === undefined ? both : highest(both, part.most);
}

function print(title: string, figures: readonly Compared[], against: string | undefined): void {
  const [titles, rows] = against === undefined ? tableOf(figures) : comparisonOf(figures, against);
  const columns = [{ title }, ...titles.map((each) => ({ title: each, align: 'right' as const }))];
  console.log(renderTable(columns, rows, { width: Infinity, colour: false }));
}

type Table = readonly [titles: readonly string[], rows: readonly (readonly string[])[]];

/** A row for what is measured, a column for each figure of it. */
function tableOf(figures: readonly Compared[]): Table {
  const titles = [...new Set(figures.map(({ what }) => what))];
  const rows = [...Map.groupBy(figures, ({ of }) => of)].map(([of, its]) => [
    of,
    ...titles.map((title) => numberText(its.find(({ what }) => what === title)?.value ?? null)),
  ]);
  return [titles, rows];
}

/** A row for each figure. */
function comparisonOf(figures: readonly Compared[], against: string): Table {
  const rows = figures.map(({ of, what, value, against: other }) => [
    of,
    what,
    numberText(value),
    numberText(other),
    value === null || other === null ? '' : numberText(value - other, 'exceptZero'),
  ]);
  return [['figure', 'here', against, 'difference'], rows];
}

function numberText(value: number | null, signDisplay: 'auto' | 'exceptZero' = 'auto'): string {
  return value === null ? '–' : value.toLocaleString('en', { maximumFractionDigits: 2, signDisplay });
}

if (import.meta.main) {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

declare module 'vitest' {
  interface TaskMeta {
    /** What was measured, for the table. */
    figure?: string;
  }
}

/** A table of what was checked on which Debian, printed at the end and kept in a file. */
export class SystemdReport implements Reporter {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const columns = modules.map(columnOf).toSorted((a, b) => a.name.localeCompare(b.name));
    const table = tableOf(columns);
    if (table === null) return;
    await mkdir(dirname(this.#file), { recursive: true });
    await writeFile(this.#file, `${table}\n`);
    process.stdout.write(`\n${table}\n\nThis table is in ${this.#file}\n`);
  }
}

/** The results on one Debian by the names of the checks. */
interface Column {
  readonly name: string;
  readonly cells: ReadonlyMap<string, Cell>;
}

interface Cell {
  readonly text: string;
  readonly seconds: number;
}

function columnOf(module: TestModule): Column {
  const [suite] = [...module.children.suites()];
  const cells = new Map([...module.children.allTests()].map((check) => [check.name, cellOf(check)]));
  return { name: suite?.name ?? module.moduleId, cells };
}

function cellOf(check: TestCase): Cell {
  const { state } = check.result();
  const word = { passed: 'yes', failed: '**no**', skipped: 'not run', pending: 'not run' }[state];
  const { figure } = check.meta();
  return {
    text: figure === undefined || state !== 'passed' ? word : `yes: ${figure}`,
    seconds: (check.diagnostic()?.duration ?? 0) / 1000,
  };
}

function tableOf(columns: readonly Column[]): string | null {
  const checks = [...new Set(columns.flatMap(({ cells }) => [...cells.keys()]))];
  if (checks.length === 0) return null;
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const seconds = (column: Column, check: string): number => column.cells.get(check)?.seconds ?? 0;
  return [
    row(['check', ...columns.map(({ name }) => name), 'seconds']),
    row(['---', ...columns.map(() => '---'), '---']),
    ...checks.map((check) =>
      row([
        check.replaceAll('|', String.raw`\|`),
        ...columns.map(({ cells }) => cells.get(check)?.text ?? 'not run'),
        columns.map((column) => seconds(column, check).toFixed(1)).join(' / '),
      ]),
    ),
    row([
      'together',
      ...columns.map(({ cells }) => passedOf([...cells.values()])),
      columns
        .map((column) => [...column.cells.values()].reduce((sum, cell) => sum + cell.seconds, 0).toFixed(0))
        .join(' / '),
    ]),
  ].join('\n');
}

function passedOf(cells: readonly Cell[]): string {
  return `${cells.filter(({ text }) => text.startsWith('yes')).length} of ${cells.length}`;
}

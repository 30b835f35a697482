import type { Resumable } from '../../e2e/resumable-host.ts';
import type { HostOptions } from '../../e2e/video-host.ts';
import type { Finding } from '../planted/scenario.ts';
import { sample } from '../kill/points.ts';

/** A table of the matrix: what happens × when. */
export interface Table<Cell> {
  readonly name: string;
  readonly cells: readonly Cell[];
  row(cell: Cell): string;
  column(cell: Cell): string;
  /** A third dimension. */
  kind(cell: Cell): string;
  /** Cells that may share a world have the same one. */
  world(cell: Cell): string;
  /** Cells that share a world. */
  readonly atOnce: number;
  /** Plays cells in one world. */
  play(cells: readonly Cell[], tools: MatrixTools): Promise<readonly Finding[]>;
}

export interface MatrixTools {
  readonly program: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly patienceMs?: number;
  /** The host continues broken uploads. */
  readonly resumable?: Resumable;
}

/** The host of a world of the matrix. */
export function hostWith({ resumable }: MatrixTools): HostOptions {
  return { processingMs: () => 2_000_000_000, ...(resumable !== undefined && { resumable }) };
}

/** One world of a table, and what replays it. */
export interface Play {
  /** `matrix:changes/3@seed` */
  readonly name: string;
  readonly cells: number;
  play(tools: MatrixTools): Promise<readonly Finding[]>;
}

/** All cells of a table. */
export function allPlays<Cell>(table: Table<Cell>, seed: string): readonly Play[] {
  return playsOf(table, 'matrix', seed, sample(table.cells, table.cells.length, seed));
}

/** So many cells that each row, each column and each kind comes at least once, in few worlds. */
export function quickPlays<Cell>(table: Table<Cell>, seed: string): readonly Play[] {
  return playsOf(table, 'sample', seed, covering(table, seed));
}

/** The cells that these words name. */
export function onlyCells<Cell>(
  table: Table<Cell>,
  { row, column, kind }: { readonly row: string; readonly column: string; readonly kind: string },
): Play['play'] {
  const cells = table.cells.filter((cell) => table.row(cell) === row && table.column(cell) === column);
  return (tools) =>
    table.play(
      cells.filter((cell) => table.kind(cell) === kind),
      tools,
    );
}

function covering<Cell>(table: Table<Cell>, seed: string): readonly Cell[] {
  const marksOf = (cell: Cell) => [
    `row ${table.row(cell)}`,
    `column ${table.column(cell)}`,
    `kind ${table.kind(cell)}`,
  ];
  const all = sample(table.cells, table.cells.length, seed);
  const seen = new Set<string>();
  const chosen: Cell[] = [];
  const worth = (cell: Cell): number => {
    const news = marksOf(cell).filter((mark) => !seen.has(mark)).length;
    return news === 0 ? 0 : 2 * news + (chosen.some((one) => table.world(one) === table.world(cell)) ? 1 : 0);
  };
  for (;;) {
    const [best] = all.toSorted((one, other) => worth(other) - worth(one));
    if (best === undefined || worth(best) === 0) return chosen;
    chosen.push(best);
    for (const mark of marksOf(best)) seen.add(mark);
  }
}

function playsOf<Cell>(
  table: Table<Cell>,
  size: 'matrix' | 'sample',
  seed: string,
  cells: readonly Cell[],
): readonly Play[] {
  const kinds = [...new Set(cells.map((cell) => table.world(cell)))];
  const worlds = kinds.flatMap((kind) =>
    chunks(
      cells.filter((cell) => table.world(cell) === kind),
      table.atOnce,
    ),
  );
  return worlds.map((some, n) => ({
    name: `${size}:${table.name}/${n}@${seed}`,
    cells: some.length,
    play: (tools) => table.play(some, tools),
  }));
}

function chunks<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));
}

import { allPlays, quickPlays } from './cell.ts';
import type { Play } from './cell.ts';
import { changeTable } from './change-table.ts';
import { clockTable } from './clock-table.ts';
import { networkTable } from './network-table.ts';
import { outageTable } from './outage-table.ts';

/** The parts of the matrix, by name. The wall clock is set by a compiled library. */
export const matrix: Readonly<
  Record<MatrixPart, { all(seed: string): readonly Play[]; quick(seed: string): readonly Play[] }>
> = {
  changes: { all: (seed) => allPlays(changeTable, seed), quick: (seed) => quickPlays(changeTable, seed) },
  network: { all: (seed) => allPlays(networkTable, seed), quick: (seed) => quickPlays(networkTable, seed) },
  outages: { all: (seed) => allPlays(outageTable, seed), quick: (seed) => quickPlays(outageTable, seed) },
  clocks: { all: (seed) => allPlays(clockTable, seed), quick: (seed) => quickPlays(clockTable, seed) },
};

export type MatrixPart = 'changes' | 'network' | 'outages' | 'clocks';

export const matrixParts = Object.keys(matrix) as MatrixPart[];

/** @param name `matrix:changes/3@seed` or `sample:changes/3@seed` @returns null when it names no world of the matrix */
export function playNamed(name: string): Play | null {
  const [, part, seed] = /^(?:matrix|sample):(\w+)\/\d+@(.*)$/.exec(name) ?? [];
  const table = matrixParts.find((one) => one === part);
  if (table === undefined || seed === undefined) return null;
  const plays = name.startsWith('matrix') ? matrix[table].all(seed) : matrix[table].quick(seed);
  return plays.find((play) => play.name === name) ?? null;
}

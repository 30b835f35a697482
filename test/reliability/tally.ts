import { spawnSync } from 'node:child_process';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Sums over all long runs so far. A life or a kill that is repeated counts again. */
interface Tally {
  /** Simulated lives. */
  readonly seeds: number;
  /** Processes that were killed, simulated and real ones. */
  readonly kills: number;
  readonly virtualHours: number;
  readonly lastFind: ({ readonly date: string } & Find) | null;
  readonly lastRun: { readonly date: string; readonly commit: string } | null;
}

/** The first violation of a run. */
export interface Find {
  /** Its seed, or the name that `--replay` takes. */
  readonly seed: string;
  readonly invariant: string;
}

const kept = fileURLToPath(new URL('tally.json', import.meta.url));

/** Adds a long run to the tally at once or not at all. */
export async function addToTally(
  run: { readonly seeds: number; readonly kills: number; readonly virtualMs: number; readonly find: Find | null },
  file = kept,
): Promise<void> {
  const sum = JSON.parse(await readFile(file, 'utf8')) as Tally;
  const date = new Date().toISOString().slice(0, 10);
  const tally: Tally = {
    seeds: sum.seeds + run.seeds,
    kills: sum.kills + run.kills,
    virtualHours: Number((sum.virtualHours + run.virtualMs / 3_600_000).toFixed(2)),
    lastFind: run.find === null ? sum.lastFind : { date, ...run.find },
    lastRun: { date, commit: commit() },
  };
  await writeFile(`${file}.new`, `${JSON.stringify(tally, null, 2)}\n`);
  await rename(`${file}.new`, file);
}

function commit(): string {
  const options = { cwd: import.meta.dirname, encoding: 'utf8' } as const;
  return spawnSync('git', ['rev-parse', '--short', 'HEAD'], options).stdout?.trim() || 'unknown';
}

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';
import type { Replacement } from './plants.ts';
import type { Order, Report, World } from './play.ts';

/** A killed daemon is never collected as garbage, so a process that plays more lives runs out of memory (4 GB after 3,000). */
const mostOfProcess = 1_000;

export interface Played {
  readonly reports: readonly Report[];
}

/**
 * Plays seeds in as many processes as asked for.
 *
 * @param wanted.until ends all as soon as it says so
 */
export async function playAll(wanted: {
  readonly seeds: readonly number[];
  readonly jobs: number;
  readonly isLogged: boolean;
  /** Records each life for the playground; false by default. */
  readonly isRecorded?: boolean;
  /** Bugs to put into the product first. */
  readonly changes?: readonly Replacement[];
  readonly twiceEvery: number;
  /** One host by default. */
  readonly world?: World;
  /** Address of a server, for a fleet. */
  readonly postgres?: string;
  readonly onReport?: (report: Report, done: number) => void;
  readonly until?: (report: Report) => boolean;
}): Promise<Played> {
  const { seeds, jobs, changes = [], isLogged, twiceEvery, world = 'one host', postgres = null } = wanted;
  const order = { changes, isLogged, isRecorded: wanted.isRecorded ?? false, twiceEvery, world, postgres };
  const reports: Report[] = [];
  const end = new AbortController();
  const take = (report: Report): void => {
    reports.push(report);
    wanted.onReport?.(report, reports.length);
    if (wanted.until?.(report) === true) end.abort();
  };
  const size = Math.min(mostOfProcess, Math.ceil(seeds.length / jobs));
  const parts = Array.from({ length: Math.ceil(seeds.length / size) }, (_, n) => seeds.slice(n * size, (n + 1) * size));
  await pLimit(jobs).map(parts, (part) =>
    end.signal.aborted ? null : play({ ...order, seeds: part }, take, end.signal),
  );
  return { reports: reports.toSorted((one, other) => one.seed - other.seed) };
}

async function play(order: Order, take: (report: Report) => void, signal: AbortSignal): Promise<void> {
  const script = fileURLToPath(new URL('play.ts', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (error) => (signal.aborted ? resolve() : reject(error)));
    child.once('exit', (code, by) =>
      code === 0 || signal.aborted ? resolve() : reject(new Error(`the simulation ended with ${code ?? by}`)),
    );
  });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{"seed"')) take(JSON.parse(line) as Report);
    else console.log(line);
  }
  await ended;
}

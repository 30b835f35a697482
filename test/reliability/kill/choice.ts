import { distinctCalls, errorPoints, killPoints, sample } from './points.ts';
import { createRandom } from './random.ts';
import type { KillRun, Workload } from './runs.ts';
import type { Trace } from './shim.ts';

interface Choice {
  readonly workload: Workload;
  readonly seed: string;
  readonly count: number;
  readonly isPowerCut?: boolean;
}

/** Later starts have less to do: a point further on would not come. */
const laterCalls = 250;

/**
 * So many chains of three kills: the first at a chosen point of the first start, then two starts that are killed on their way, and
 * `playRun` adds one that is not.
 */
export function chainsOf(trace: Trace, { workload, seed, count, isPowerCut = false }: Choice): readonly KillRun[] {
  const distinct = distinctCalls(trace);
  const firsts = sample(
    killPoints(trace).filter(({ at }) => distinct.has(at)),
    count,
    `${seed}/${workload}`,
  );
  const random = createRandom(`${seed}/${workload}`);
  const later = () =>
    ({ action: random() < 0.5 ? 'before' : 'after', at: 1 + Math.floor(random() * laterCalls) }) as const;
  return firsts.map((first) => ({ workload, seed, isPowerCut, points: [first, later(), later()] }));
}

/** So many runs in each of which one call fails. */
export function errorsOf(trace: Trace, { workload, seed, count }: Choice): readonly KillRun[] {
  const distinct = distinctCalls(trace);
  const points = errorPoints(trace).filter(({ at }) => distinct.has(at));
  return sample(points, count, `${seed}/${workload}`).map((point) => ({ workload, seed, points: [point] }));
}

import type { Exit } from '../judge/evidence.ts';
import type { Counted, Observed } from './judge.ts';

/** What a run of a fleet went through. */
export interface FleetTotals {
  readonly files: number;
  /** Files that went to another member because their holder was silent. */
  readonly takeovers: number;
  /** Writes and last parts of members that had lost the file. */
  readonly lateWritesRefused: number;
  /** Requests that count, in the worst hour. */
  readonly worstHour: number;
}

const hourMs = 3_600_000;

/** Pure. */
export function totalsOf(run: {
  readonly files: number;
  readonly observed: readonly Observed[];
  readonly exits: readonly Exit[];
  readonly requests: readonly Counted[];
}): FleetTotals {
  return {
    files: run.files,
    takeovers: takeoversIn(run.observed),
    lateWritesRefused: run.exits.reduce((sum, { stderr }) => sum + (stderr.match(refused)?.length ?? 0), 0),
    worstHour: worstHourOf(run.requests.map(({ at }) => at)),
  };
}

/** What a member logs. */
const refused = /"(?:Another worker has the file now|Another worker took over the claim of a file)"/g;

function takeoversIn(observed: readonly Observed[]): number {
  const holders = new Map<string, string>();
  const expired = new Set<string>();
  let count = 0;
  for (const { what, file, by } of observed) {
    if (what === 'expired') expired.add(file);
    if (what !== 'granted') continue;
    if (expired.delete(file) && holders.get(file) !== by) count += 1;
    holders.set(file, by);
  }
  return count;
}

function worstHourOf(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  return Math.max(0, ...sorted.map((from) => sorted.filter((at) => at >= from && at - from < hourMs).length));
}

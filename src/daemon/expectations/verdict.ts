import type { Expectation } from '../../config/config.ts';
import type { ExpectationState } from '../../pipeline/expectation.ts';
import type { Period } from './period.ts';

/** A file that counts. Times are epoch milliseconds. */
export interface Counted {
  readonly arrivedAt: number;
  /** Null: it is not live. */
  readonly liveAt: number | null;
}

/** Pure. */
export function verdict(
  { count, until, graceMs }: Pick<Expectation, 'count' | 'until' | 'graceMs'>,
  { by }: Pick<Period, 'by'>,
  files: readonly Counted[],
  now: number,
): ExpectationState {
  const arrivedAt = nth(
    files.map((file) => file.arrivedAt),
    count,
  );
  const liveAt = nth(
    files.flatMap((file) => file.liveAt ?? []),
    count,
  );
  const metAt = until === 'live' ? liveAt : arrivedAt;
  const deadline = by + graceMs;
  if (metAt !== null && metAt <= deadline) return liveAt === null ? 'arrived' : 'live';
  if (now <= deadline) return arrivedAt === null ? 'expected' : 'arrived';
  if (metAt !== null) return 'recovered';
  return arrivedAt === null ? 'missing' : 'late';
}

/** When so many of them had happened; null: they have not. */
function nth(times: readonly number[], n: number): number | null {
  return times.toSorted((one, other) => one - other)[n - 1] ?? null;
}

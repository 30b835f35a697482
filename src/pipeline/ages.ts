import type { Facts } from './file/facts.ts';
import type { Clock } from './file/ports.ts';

/**
 * Measures how long files have been in a state, on the monotonic clock. The time in a row comes from the wall clock,
 * perhaps from before a restart, and may be wrong. It therefore counts only once, when the row is first seen, limited
 * to between 0 and `mostBeforeMs`.
 *
 * @param sinceOf returns when the state began, according to the row
 */
export function createAges(
  clock: Clock,
  mostBeforeMs: () => number,
  sinceOf: (facts: Facts) => number | null = ({ processingSince }) => processingSince,
) {
  const begun = new Map<string, Begun>();
  const startedAt = clock.elapsed();
  const begin = (since: number | null): Begun => {
    const beforeMs = clock.now() - believed(since ?? clock.now(), clock.now());
    const isMeasured = beforeMs <= clock.elapsed() - startedAt;
    return { since, at: clock.elapsed() - Math.min(beforeMs, mostBeforeMs()), isMeasured };
  };
  const of = (facts: Facts): Begun => {
    const known = begun.get(facts.id);
    const since = sinceOf(facts);
    // A retry restarts the age.
    if (known !== undefined && known.since === since) return known;
    const one = begin(since);
    begun.set(facts.id, one);
    return one;
  };
  return {
    of: (facts: Facts): number => clock.elapsed() - of(facts).at,
    /**
     * Whether the whole age was measured. False if the state began before this process, so that part of the age relies
     * on the wall clock.
     */
    isMeasured: (facts: Facts): boolean => of(facts).isMeasured,
    forget: (id: string): void => void begun.delete(id),
    keepOnly: (files: readonly Facts[]): void => {
      if (begun.size <= files.length) return;
      const kept = new Set(files.map(({ id }) => id));
      for (const id of begun.keys()) if (!kept.has(id)) begun.delete(id);
    },
  };
}

interface Begun {
  readonly since: number | null;
  /** When the state began, on the monotonic clock. */
  readonly at: number;
  readonly isMeasured: boolean;
}

/**
 * Limits a time from the ledger to what is possible. The wall clock may have been wrong when the time was written, or
 * may be wrong now. A past event cannot lie in the future, and a deadline cannot be further ahead than its wait. The
 * result moves with `now`, so measure from it on the monotonic clock; otherwise the wait never ends. Decision record
 * 0023 lists every stored time. Pure.
 *
 * @param at epoch milliseconds, as stored
 * @param now epoch milliseconds
 * @param aheadMs the longest possible wait in milliseconds; 0 for a past event
 */
export function believed(at: number, now: number, aheadMs = 0): number {
  return Math.min(at, now + aheadMs);
}

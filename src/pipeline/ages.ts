import type { Facts } from './file/facts.ts';
import type { Clock } from './file/ports.ts';

/**
 * How long files have been in a state, measured on the monotonic clock. The time in a row comes from the wall clock,
 * perhaps before a restart, and that clock may be wrong: its value counts once, when the row is first seen, bounded by
 * 0 and `mostBeforeMs`.
 *
 * @param sinceOf when the state began, according to the row
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
    // A retry starts the age again.
    if (known !== undefined && known.since === since) return known;
    const one = begin(since);
    begun.set(facts.id, one);
    return one;
  };
  return {
    /** In milliseconds. */
    of: (facts: Facts): number => clock.elapsed() - of(facts).at,
    /**
     * Whether the whole age was measured: false when the state began before this process, so that part of it rests on
     * the wall clock.
     */
    isMeasured: (facts: Facts): boolean => of(facts).isMeasured,
    forget: (id: string): void => void begun.delete(id),
    /** Forgets all other files. */
    keepOnly: (files: readonly Facts[]): void => {
      if (begun.size <= files.length) return;
      const kept = new Set(files.map(({ id }) => id));
      for (const id of begun.keys()) if (!kept.has(id)) begun.delete(id);
    },
  };
}

interface Begun {
  readonly since: number | null;
  /** On the monotonic clock. */
  readonly at: number;
  readonly isMeasured: boolean;
}

/**
 * Pure: bounds a time from the ledger by what is possible. The wall clock may have been wrong when the time was
 * written, or may be wrong now. A past event lies in the past, and a deadline lies no further ahead than its wait. The
 * result moves with `now`: measure from it on the monotonic clock, otherwise the wait never ends. Decision record 0023
 * lists every stored time.
 *
 * @param at epoch milliseconds, as stored
 * @param now epoch milliseconds
 * @param aheadMs the longest possible wait in milliseconds; 0 for a past event
 */
export function believed(at: number, now: number, aheadMs = 0): number {
  return Math.min(at, now + aheadMs);
}

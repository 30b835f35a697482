import type { Facts } from './file/facts.ts';
import type { Clock } from './file/ports.ts';

/**
 * How long files have been in a state: measured on the monotonic clock, which no one sets.
 * What a row says was written by the wall clock, perhaps before a restart, and that clock may have been wrong then or be wrong now: it
 * counts once, when the row is first seen, never as less than nothing and never as more than `mostBeforeMs`.
 * @param sinceOf when the state began, as the row says
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
    // A retry begins anew.
    if (known !== undefined && known.since === since) return known;
    const one = begin(since);
    begun.set(facts.id, one);
    return one;
  };
  return {
    /** In milliseconds. */
    of: (facts: Facts): number => clock.elapsed() - of(facts).at,
    /** Whether all of it was measured: false where it began before we did, by the wall clock's word. */
    isMeasured: (facts: Facts): boolean => of(facts).isMeasured,
    forget: (id: string): void => void begun.delete(id),
    /** Forgets all others. */
    keepOnly: (files: readonly Facts[]): void => {
      if (begun.size <= files.length) return;
      const kept = new Set(files.map(({ id }) => id));
      for (const id of begun.keys()) if (!kept.has(id)) begun.delete(id);
    },
  };
}

interface Begun {
  readonly since: number | null;
  /** By the clock that nobody sets. */
  readonly at: number;
  readonly isMeasured: boolean;
}

/**
 * Pure: a time from the ledger, as far as it is believed. The wall clock may have been wrong when it was written, or be wrong now: what has
 * happened lies in the past, and a deadline no further ahead than the wait that it ends. The result moves with `now`: measure from it on
 * the monotonic clock, or the wait never ends. Decision record 0023 lists every stored time.
 *
 * @param at epoch milliseconds, as stored
 * @param now epoch milliseconds
 * @param aheadMs how long the wait can be at most, in milliseconds; 0 for what has happened
 */
export function believed(at: number, now: number, aheadMs = 0): number {
  return Math.min(at, now + aheadMs);
}

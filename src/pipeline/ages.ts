import type { Facts } from './file/facts.ts';
import type { Clock } from './file/ports.ts';
import { believed } from './file/stored-time.ts';

/** How long files have been in a state: measured on the monotonic clock, which no one sets. */
export interface Ages {
  /** In milliseconds. */
  of(facts: Facts): number;
  /** Whether all of it was measured: false where it began before we did, by the wall clock's word. */
  isMeasured(facts: Facts): boolean;
  forget(id: string): void;
  /** Forgets all others. */
  keepOnly(files: readonly Facts[]): void;
}

/**
 * What a row says was written by the wall clock, perhaps before a restart, and that clock may have been wrong then or be wrong now: it
 * counts once, when the row is first seen, never as less than nothing and never as more than `mostBeforeMs`.
 *
 * @param sinceOf when the state began, as the row says
 */
export function createAges(
  clock: Clock,
  mostBeforeMs: () => number,
  sinceOf: (facts: Facts) => number | null = ({ processingSince }) => processingSince,
): Ages {
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
    of: (facts) => clock.elapsed() - of(facts).at,
    isMeasured: (facts) => of(facts).isMeasured,
    forget: (id) => void begun.delete(id),
    keepOnly: (files) => {
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

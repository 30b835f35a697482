import type { Facts } from '../file/facts.ts';
import type { Clock } from '../file/ports.ts';
import { believed } from '../file/stored-time.ts';

/** How long files have been in processing: measured on our own clock, which nobody sets. */
export interface Ages {
  /** In milliseconds. */
  of(facts: Facts): number;
  /** Whether all of it was measured: false where it began before we did, by the wall clock's word. */
  isMeasured(facts: Facts): boolean;
  /** Forgets all others. */
  keepOnly(processing: readonly Facts[]): void;
}

/**
 * What a row says was written by the wall clock, perhaps before a restart, and that clock may have been wrong then or be wrong now: it
 * counts once, when the row is first seen, never as less than nothing and never as more than `mostBeforeMs`.
 */
export function createAges(clock: Clock, mostBeforeMs: () => number): Ages {
  const begun = new Map<string, Begun>();
  const startedAt = clock.elapsed();
  const begin = ({ processingSince }: Facts): Begun => {
    const beforeMs = clock.now() - believed(processingSince ?? clock.now(), clock.now());
    const isMeasured = beforeMs <= clock.elapsed() - startedAt;
    return { processingSince, at: clock.elapsed() - Math.min(beforeMs, mostBeforeMs()), isMeasured };
  };
  const of = (facts: Facts): Begun => {
    const known = begun.get(facts.id);
    // A retry begins anew.
    if (known !== undefined && known.processingSince === facts.processingSince) return known;
    const one = begin(facts);
    begun.set(facts.id, one);
    return one;
  };
  return {
    of: (facts) => clock.elapsed() - of(facts).at,
    isMeasured: (facts) => of(facts).isMeasured,
    keepOnly: (processing) => {
      if (begun.size <= processing.length) return;
      const kept = new Set(processing.map(({ id }) => id));
      for (const id of begun.keys()) if (!kept.has(id)) begun.delete(id);
    },
  };
}

interface Begun {
  readonly processingSince: number | null;
  /** By the clock that nobody sets. */
  readonly at: number;
  readonly isMeasured: boolean;
}

import type { Facts } from '../file/facts.ts';
import type { Clock } from '../file/ports.ts';

/** How long files have been in processing: measured on our own clock, which nobody sets. */
export interface Ages {
  /** In milliseconds. */
  of(facts: Facts): number;
  /** Forgets all others. */
  keepOnly(processing: readonly Facts[]): void;
}

/**
 * What a row says was written by the wall clock, perhaps before a restart, and that clock may have been wrong then or be wrong now: it
 * counts once, when the row is first seen, never as less than nothing and never as more than `mostBeforeMs`.
 */
export function createAges(clock: Clock, mostBeforeMs: () => number): Ages {
  const begun = new Map<string, { readonly processingSince: number | null; readonly at: number }>();
  const begin = ({ processingSince }: Facts): number => {
    const beforeMs = clock.now() - (processingSince ?? clock.now());
    return clock.elapsed() - Math.min(Math.max(0, beforeMs), mostBeforeMs());
  };
  return {
    of: (facts) => {
      let one = begun.get(facts.id);
      // A retry begins anew.
      if (one === undefined || one.processingSince !== facts.processingSince) {
        one = { processingSince: facts.processingSince, at: begin(facts) };
        begun.set(facts.id, one);
      }
      return clock.elapsed() - one.at;
    },
    keepOnly: (processing) => {
      if (begun.size <= processing.length) return;
      const kept = new Set(processing.map(({ id }) => id));
      for (const id of begun.keys()) if (!kept.has(id)) begun.delete(id);
    },
  };
}

import { randomUUID } from 'node:crypto';
import type { TriedRules } from '../../daemon/rules/try-rules.ts';

/** The last trials of rules, in memory: neither file names nor rules belong in addresses. */
export interface Trials {
  /** @returns the key for `find` */
  keep(trial: TriedRules): string;
  find(key: string): TriedRules | null;
}

/** Maximum number of trials, of at most 64 KiB each. */
const mostKept = 10;

export function createTrials(): Trials {
  const kept = new Map<string, TriedRules>();
  return {
    keep: (trial) => {
      const key = randomUUID();
      kept.set(key, trial);
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      return key;
    },
    find: (key) => kept.get(key) ?? null,
  };
}

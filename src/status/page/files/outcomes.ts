import { randomUUID } from 'node:crypto';
import type { Left, Refused } from '../../../daemon/commands/wanted.ts';
import type { BulkResult } from './bulk-commands.ts';

/** The result of a command on many files, with file names. */
export interface Outcome {
  /** The first few files that the command changed. Paths are absolute. */
  readonly files: readonly { readonly id: string; readonly path: string }[];
  readonly left: readonly Left[];
  readonly refused: readonly Refused[];
}

/**
 * Stores the results of recent commands in memory, because file names do not belong in addresses. Without a stored
 * result, the page still shows the counts.
 */
export interface Outcomes {
  /** @returns the key for `find` */
  keep(result: BulkResult, pathOf: (id: string) => Promise<string | null>): Promise<string>;
  find(word: string): Outcome | null;
}

/** Maximum number of results stored. */
const mostKept = 50;

/** Maximum number of files named per result. */
export const mostNamed = 20;

export function createOutcomes(): Outcomes {
  const kept = new Map<string, Outcome>();
  return {
    keep: async ({ ids, left = [], refused }, pathOf) => {
      const named = await Promise.all(ids.slice(0, mostNamed).map(async (id) => ({ id, path: await pathOf(id) })));
      const files = named.flatMap(({ id, path }) => (path === null ? [] : [{ id, path }]));
      const word = randomUUID();
      kept.set(word, { files, left: left.slice(0, mostNamed), refused: refused.slice(0, mostNamed) });
      const [oldest] = kept.keys();
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest);
      return word;
    },
    find: (word) => kept.get(word) ?? null,
  };
}

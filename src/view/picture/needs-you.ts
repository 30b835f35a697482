import type { CausesFound } from '../../ledger/causes.ts';
import { causeOf } from './causes.ts';
import type { Cause } from './causes.ts';

/** All files that need a person, by cause. */
export interface NeedsYou {
  readonly files: number;
  /** Sorted by number of files, most first. */
  readonly causes: readonly CauseView[];
  /** Totals of the causes omitted from the list. */
  readonly more: { readonly causes: number; readonly files: number };
}

export interface CauseView extends Cause {
  readonly files: number;
  /** When the first file with this cause stopped, epoch milliseconds; null if unknown. */
  readonly since: number | null;
  /** One example per folder and extension, most frequent first. Paths are absolute. */
  readonly examples: readonly { readonly id: string; readonly path: string; readonly why: string | null }[];
}

/** Converts the causes found in the ledger. Pure. */
export function needsYouOf({ causes, more }: CausesFound): NeedsYou {
  return {
    files: causes.reduce((sum, { files }) => sum + files, more.files),
    causes: causes.map(({ cause, files, extensions, first, examples }) => ({
      ...causeOf({ cause, files, extensions, message: first.lastFailure?.message ?? first.why ?? cause }),
      files,
      since: first.endedAt,
      examples: examples.map(({ id, folder, path, why, lastFailure }) => ({
        id,
        path: `${folder}/${path}`,
        why: why ?? lastFailure?.message ?? null,
      })),
    })),
    more,
  };
}

/**
 * Returns how many of the counted files need a person. Pure.
 *
 * @param counts as in `LedgerSnapshot.counts`
 */
export function needsYouIn(counts: Readonly<Record<string, number>>): number {
  return parts.reduce((sum, part) => sum + (counts[part] ?? 0), 0);
}

/** The ledger's counts that add up to all files matching `needsPerson`. */
const parts = ['failed', 'held', 'not put away', 'without channel', 'without feed'] as const;

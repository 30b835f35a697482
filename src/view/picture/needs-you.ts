import type { CausesFound } from '../../ledger/causes.ts';
import { causeOf } from './causes.ts';
import type { Cause } from './causes.ts';

/** All files that need a person, by cause. */
export interface NeedsYou {
  readonly files: number;
  /** The most files first. */
  readonly causes: readonly CauseView[];
  /** The causes that are not among these. */
  readonly more: { readonly causes: number; readonly files: number };
}

export interface CauseView extends Cause {
  readonly files: number;
  /** When the first of them came to a stop, epoch milliseconds; null: not known. */
  readonly since: number | null;
  /** One of each folder and ending; the most frequent first. Paths are absolute. */
  readonly examples: readonly { readonly id: string; readonly path: string; readonly why: string | null }[];
}

/** Pure. */
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
 * Pure: how many of the counted files need a person.
 *
 * @param counts of `LedgerSnapshot.counts`
 */
export function needsYouIn(counts: Readonly<Record<string, number>>): number {
  return parts.reduce((sum, part) => sum + (counts[part] ?? 0), 0);
}

/** What `needsPerson` of a file takes, as the ledger counts it. */
const parts = ['failed', 'held', 'not put away', 'without channel', 'without feed'] as const;

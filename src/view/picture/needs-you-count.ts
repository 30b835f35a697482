/**
 * Pure: how many of the counted files need a person.
 *
 * @param counts of `LedgerView.counts`
 */
export function needsYouIn(counts: Readonly<Record<string, number>>): number {
  return parts.reduce((sum, part) => sum + (counts[part] ?? 0), 0);
}

/** What `needsPerson` of a file takes, as the ledger counts it. */
const parts = ['failed', 'held', 'not put away', 'without channel', 'without feed'] as const;

import type { EventRow } from '../../pipeline/events.ts';

/** Rows that wait for a ledger that refuses. */
const mostWaiting = 1_000;

/**
 * Keeps events that report no other write. Rows that the ledger refuses, as on a full disk, wait in memory for the next one.
 *
 * @param write writes all of them, or none
 * @returns resolves when the row is written or waits; never rejects
 */
export function createEventKeeper(
  write: (rows: readonly EventRow[]) => Promise<void>,
  refused: (error: unknown) => void,
): (row: EventRow) => Promise<void> {
  let waiting: readonly EventRow[] = [];
  let last: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    const rows = waiting;
    if (rows.length === 0) return;
    try {
      await write(rows);
      waiting = waiting.slice(rows.length);
    } catch (error) {
      refused(error);
    }
  };
  return (row) => {
    if (waiting.length < mostWaiting) waiting = [...waiting, row];
    return (last = last.then(flush));
  };
}

import type { CounterRow } from '../../ledger/records.ts';
import type { CounterReceipts } from '../../ledger/receipts.ts';
import { isAhead } from '../../watch/root-mark.ts';
import type { MarkCounter } from '../../watch/root-mark.ts';

/**
 * The counter that the marks of the watched folders are compared with. The receipts have it too: a ledger that was
 * restored from a backup catches up from them, and is then not older than its folders.
 */
export function markCounter(row: CounterRow, receipts: CounterReceipts): MarkCounter {
  let known = -1;
  const load = async (): Promise<void> => {
    known = Math.max(known, await row.load());
  };
  return {
    current: async () => {
      if (known < 0) await load();
      return known;
    },
    // Other hosts of a fleet advance it as well, so a mark that says more is not believed before the ledger was asked.
    isBehind: async (mark) => {
      if (mark > known) await load();
      return isAhead(mark, known);
    },
    advance: async (atLeast = 0) => {
      const next = await row.advance(Math.max(atLeast, known));
      await receipts.note(next);
      known = Math.max(known, next);
      return next;
    },
  };
}

import type { CounterRow } from '../../ledger/records.ts';
import type { CounterReceipts } from '../../ledger/receipts.ts';
import { isAhead } from '../../watch/root-mark.ts';
import type { MarkCounter } from '../../watch/root-mark.ts';

/**
 * The counter that is compared with the marks of the watched folders. The receipts store it too: a ledger restored from
 * a backup catches up from them, and is then no older than its folders.
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
    // Reloads the counter before believing a mark that is ahead, because other fleet hosts advance it as well.
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

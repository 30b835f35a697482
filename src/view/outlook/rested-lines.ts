import type { LedgerView } from '../../ledger/view.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import type { Line } from '../../pipeline/file/queue.ts';

/** The lines are kept this many times as long as reading them took: however many ask, that costs one fiftieth of a core. */
export const restFactor = 50;

/** What takes less is always new. */
const leastMs = 2;

/**
 * Lines of files for estimates. With 100,000 files in line reading them takes 24 ms, most of what a status cost while they came in.
 *
 * @returns like `LedgerView.lines`, and as they were some moments ago when there are many files in them
 */
export function restedLines(ledger: Pick<LedgerView, 'lines'>, clock: Clock): LedgerView['lines'] {
  let kept: { readonly lines: readonly Line[]; readonly until: number } | null = null;
  return async (without) => {
    const startedAt = clock.elapsed();
    if (kept !== null && startedAt < kept.until) return kept.lines;
    const lines = await ledger.lines(without);
    const readAt = clock.elapsed();
    const tookMs = readAt - startedAt;
    kept = tookMs < leastMs ? null : { lines, until: readAt + restFactor * tookMs };
    return lines;
  };
}

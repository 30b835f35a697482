import type { HistoryRows } from '../ledger/history.ts';
import type { CountsStore, Period } from '../pipeline/file/selection.ts';
import type { DaySlot } from './picture/picture.ts';

/** What ended on one local day. */
export interface DayOfFiles extends DaySlot {
  /** Milliseconds from arrival to done; null: no file was done. */
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
}

export const daysShown = 30;

/** How long counts are reused, in milliseconds. A retry changes the past rarely. */
const reusedMs = { today: 60_000, earlier: 3_600_000 };

/** Counts the files of the last days. A day is counted once and reused, so that views stay cheap. */
export function createDays(
  ledger: CountsStore & Pick<HistoryRows, 'doneAfter'>,
): (now: number) => Promise<readonly DayOfFiles[]> {
  const counted = new Map<number, { readonly until: number; readonly day: Promise<DayOfFiles> }>();
  const dayAt = (at: number, next: number | undefined): Promise<DayOfFiles> => {
    const keptMs = next === undefined ? reusedMs.today : reusedMs.earlier;
    const known = counted.get(at);
    if (known !== undefined && performance.now() < known.until) return known.day;
    const day = count(ledger, { from: at, to: next ?? Number.MAX_SAFE_INTEGER });
    counted.set(at, { until: performance.now() + keptMs, day });
    day.catch(() => counted.delete(at));
    return day;
  };
  return async (now) => {
    const starts = startsOf(now);
    for (const at of counted.keys()) if (!starts.includes(at)) counted.delete(at);
    const days: DayOfFiles[] = [];
    // One after the other: each query blocks the event loop for some milliseconds.
    for (const [n, at] of starts.entries()) days.push(await dayAt(at, starts[n + 1]));
    return days;
  };
}

/** Returns the starts of the last local days, oldest first. Pure. */
export function startsOf(now: number): readonly number[] {
  const today = new Date(now);
  today.setHours(0, 0, 0, 0);
  return Array.from({ length: daysShown }, (_, n) => {
    const day = new Date(today);
    day.setDate(day.getDate() - (daysShown - 1 - n));
    return day.getTime();
  });
}

/** Counts what ended in a period. */
export async function countEnded(ledger: CountsStore, ended: Period): Promise<DaySlot> {
  const counts = await ledger.counts({ where: { ended }, by: ['state'], withBytes: true });
  const of = (state: string) => counts.find((each) => each.state === state) ?? { files: 0, bytes: 0 };
  const { files: done, bytes } = of('done');
  return { at: ended.from, done, failed: of('failed').files + of('held').files, bytes };
}

async function count(ledger: CountsStore & Pick<HistoryRows, 'doneAfter'>, ended: Period): Promise<DayOfFiles> {
  const counts = await countEnded(ledger, ended);
  const took = counts.done === 0 ? [] : (await ledger.doneAfter(ended)).toSorted((one, other) => one - other);
  const at = (share: number): number | null => took[Math.ceil(took.length * share) - 1] ?? null;
  return { ...counts, medianMs: at(0.5), p95Ms: at(0.95) };
}

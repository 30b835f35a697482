import { size } from '../../view/words/amounts.ts';
import { clockDay } from '../../view/words/clock-time.ts';
import type { DayTotals } from '../../ledger/news-rows.ts';
import type { Message } from '@dropcast/notify';

/** What a target was last sent of receipts. */
export interface LastReceipt {
  /** Local date, like 2026-11-22. */
  readonly day: string;
  /** Until when it counted, epoch milliseconds. */
  readonly until: number;
}

const dayMs = 24 * 3_600_000;

/**
 * Pure: whether the receipt of a day is due, and since when it counts. The first one is due at the next such hour; one that was missed
 * while the daemon was down comes on the same day, and else the next one counts from further back.
 *
 * @param at minutes since midnight, local time
 * @returns `since` null: nothing is due
 */
export function receiptDue(
  last: LastReceipt | null,
  at: number,
  now: number,
): { readonly since: number | null; readonly next: LastReceipt | null } {
  const local = new Date(now);
  const day = clockDay(local);
  const isAfter = local.getHours() * 60 + local.getMinutes() >= at;
  if (last === null) return { since: null, next: { day: isAfter ? day : clockDay(new Date(now - dayMs)), until: now } };
  // A clock that was set back: what happens from now on is in no receipt yet. An earlier day than the last one has its own again.
  if (now < last.until) {
    const before = isAfter ? day : clockDay(new Date(now - dayMs));
    return { since: null, next: { day: last.day > day ? before : last.day, until: now } };
  }
  if (!isAfter || day <= last.day) return { since: null, next: null };
  return { since: Math.min(last.until, now), next: { day, until: now } };
}

/**
 * Pure: '214 in, 214 out'.
 *
 * @param isWanted whether also a day on which nothing happened is told
 */
export function receipt(
  totals: DayTotals,
  more: { readonly needsYou: number; readonly missing: readonly string[]; readonly isWanted: boolean },
  at: number,
): Message | null {
  const { came, live, bytes } = totals;
  if (came + live + more.needsYou === 0 && !more.isWanted) return null;
  const body = [
    `${files(came)} came in, ${files(live)} went live (${size(bytes)}).`,
    more.needsYou === 0
      ? 'Nothing needs you.'
      : `${files(more.needsYou)} ${more.needsYou === 1 ? 'needs' : 'need'} you: see dropcast status.`,
    ...more.missing,
  ];
  const level = more.needsYou > 0 || more.missing.length > 0 ? 'warn' : 'info';
  return {
    type: 'daily',
    level,
    title: `${came} in, ${live} out`,
    body: body.join('\n'),
    cause: 'daily',
    at,
    count: live,
    files: [],
  };
}

function files(n: number): string {
  return n === 1 ? '1 file' : `${n} files`;
}

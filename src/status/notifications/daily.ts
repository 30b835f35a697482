import type { Message } from '@dropcast/notify';
import { counted, size, clockDay } from '../../view/words/text.ts';
import { filesIn } from '../../view/files/files-view.ts';
import type { CountsStore } from '../../pipeline/file/selection.ts';

/** The last receipt sent to a target. */
export interface LastReceipt {
  /** Local date, for example 2026-11-22. */
  readonly day: string;
  /** End of the period covered, in epoch milliseconds. */
  readonly until: number;
}

/** Files that arrived and went live in a period. */
export interface DayTotals {
  readonly came: number;
  readonly live: number;
  readonly bytes: number;
}

const dayMs = 24 * 3_600_000;

/**
 * Determines whether the daily receipt is due, and the start of its period. The first is due at the next configured
 * time. A receipt missed while the daemon was down is sent later the same day; otherwise the next one covers a longer
 * period. Pure.
 *
 * @param at minutes since midnight, local time
 * @returns `since` null when nothing is due
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
  // The clock was set back. The next receipt's period starts now, and an earlier day gets its own receipt again.
  if (now < last.until) {
    const before = isAfter ? day : clockDay(new Date(now - dayMs));
    return { since: null, next: { day: last.day > day ? before : last.day, until: now } };
  }
  if (!isAfter || day <= last.day) return { since: null, next: null };
  return { since: Math.min(last.until, now), next: { day, until: now } };
}

/**
 * Builds the receipt, titled '214 in, 214 out'. Pure.
 *
 * @param isWanted whether an idle day gets a receipt too
 */
export function receipt(
  totals: DayTotals,
  more: { readonly needsYou: number; readonly missing: readonly string[]; readonly isWanted: boolean },
  at: number,
): Message | null {
  const { came, live, bytes } = totals;
  if (came + live + more.needsYou === 0 && !more.isWanted) return null;
  const body = [
    `${counted(came, 'file')} came in, ${counted(live, 'file')} went live (${size(bytes)}).`,
    more.needsYou === 0
      ? 'Nothing needs you.'
      : `${counted(more.needsYou, 'file needs', 'files need')} you: see dropcast status.`,
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

/** Counts the files that arrived, and those that went live, between two times (epoch milliseconds). */
export async function dayTotals(ledger: CountsStore, from: number, to: number): Promise<DayTotals> {
  const came = await ledger.counts({ where: { arrived: { from, to } }, by: ['state'] });
  const ended = await ledger.counts({ where: { ended: { from, to } }, by: ['state'], withBytes: true });
  const live = ended.find(({ state }) => state === 'done');
  return {
    came: filesIn(came.filter(({ state }) => !['superseded', 'vanished'].includes(state))),
    live: live?.files ?? 0,
    bytes: live?.bytes ?? 0,
  };
}

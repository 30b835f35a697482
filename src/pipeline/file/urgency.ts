import type { Plan, ReadyBy } from '../../routing/plan.ts';
import { dayIn, momentIn, plusDays } from '../zoned-time.ts';
import type { Facts } from './facts.ts';

type Dated = { readonly plan: Pick<Plan, 'readyBy'> | null } & Pick<Facts, 'discoveredAt'>;

/** Returns when a file must be ready, in epoch milliseconds; null if it has no deadline. Pure. */
export function deadlineOf({ plan, discoveredAt }: Dated): number | null {
  return plan?.readyBy === undefined ? null : deadlineFrom(plan.readyBy, discoveredAt);
}

/** Returns the deadline of a file that arrives at `atMs`. A time of day is the next one after the arrival. Pure. */
export function deadlineFrom(readyBy: ReadyBy, atMs: number): number {
  if ('afterMs' in readyBy) return atMs + readyBy.afterMs;
  const { minutes, zone } = readyBy;
  const today = dayIn(zone, atMs);
  const at = momentIn(zone, today, minutes);
  return at > atMs ? at : momentIn(zone, plusDays(today, 1), minutes);
}

/**
 * Returns the key by which a file precedes the others, smallest first: files that a person put first, the last command
 * before the earlier ones, then the earliest deadline. Null: the file waits for its turn, is ready, or has ended. The
 * ledger stores the key in a column of its own, so that an index finds the smallest. Pure.
 */
export function urgencyOf(facts: Dated & Pick<Facts, 'firstAt' | 'readyAt' | 'end'>): number | null {
  if (facts.end !== null || facts.readyAt !== null) return null;
  return facts.firstAt === null ? deadlineOf(facts) : -facts.firstAt;
}

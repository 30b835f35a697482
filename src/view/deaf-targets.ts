import type { DeafTarget } from './hosts/fleet-view.ts';
import { clockTime } from './words/clock-time.ts';

/** A notification target that rejects messages, with the number waiting for it. */
export interface DeafTargetView extends DeafTarget {
  readonly waiting: number;
}

/** @param ledger read only when a target accepts nothing */
export async function deafTargetViews(
  targets: { deaf(): readonly DeafTarget[] },
  ledger: { readonly news: { countWaiting(): Promise<ReadonlyMap<string, number>> } },
): Promise<readonly DeafTargetView[]> {
  const deaf = targets.deaf();
  if (deaf.length === 0) return [];
  const waiting = await ledger.news.countWaiting();
  return deaf.map((each) => ({ ...each, waiting: waiting.get(each.name) ?? 0 }));
}

/** Example: `ntfy "phone" has accepted nothing since 14:32: answered 401; 3 messages wait`. */
export function deafWords({ name, type, why, since, waiting }: DeafTargetView, now: number): string {
  const who = name === type ? type : `${type} "${name}"`;
  const wait = waiting === 0 ? '' : `; ${waiting === 1 ? '1 message waits' : `${waiting} messages wait`}`;
  return `${who} has accepted nothing since ${clockTime(since, now)}: ${why}${wait}`;
}

import type { DeafTarget } from '../fleet/fleet-view.ts';
import { clockTime } from '../view/words/clock-time.ts';

/** A notification target, as configured. */
export interface TargetName {
  readonly name: string;
  readonly type: string;
}

/** The same, with the messages that wait for it. */
export interface DeafTargetView extends DeafTarget {
  readonly waiting: number;
}

/** What came of sending to the targets of one type, since the start. */
export interface SendCounts {
  readonly taken: number;
  readonly failed: number;
  /** Messages that no target will ever get. */
  readonly dropped: number;
}

/** How sending to the notification targets goes: told by who sends, asked by who shows or counts it. In memory. */
export interface MessageTargets {
  took(target: TargetName): void;
  refused(target: TargetName, why: string, at: number): void;
  dropped(target: TargetName, messages: number): void;
  /** There is no such target any more. */
  gone(name: string): void;
  deaf(): readonly DeafTarget[];
  counts(type: string): SendCounts;
}

const none: SendCounts = { taken: 0, failed: 0, dropped: 0 };

export function createMessageTargets(): MessageTargets {
  const deaf = new Map<string, DeafTarget>();
  const counts = new Map<string, SendCounts>();
  const count = (type: string, what: keyof SendCounts, by = 1): void => {
    const before = counts.get(type) ?? none;
    counts.set(type, { ...before, [what]: before[what] + by });
  };
  return {
    took: ({ name, type }) => {
      count(type, 'taken');
      deaf.delete(name);
    },
    refused: ({ name, type }, why, at) => {
      count(type, 'failed');
      deaf.set(name, { name, type, why, since: deaf.get(name)?.since ?? at });
    },
    dropped: ({ type }, messages) => count(type, 'dropped', messages),
    gone: (name) => void deaf.delete(name),
    deaf: () => [...deaf.values()],
    counts: (type) => counts.get(type) ?? none,
  };
}

/** @param ledger is asked only when a target takes nothing */
export async function deafTargetViews(
  targets: Pick<MessageTargets, 'deaf'>,
  ledger: { readonly news: { countWaiting(): Promise<ReadonlyMap<string, number>> } },
): Promise<readonly DeafTargetView[]> {
  const deaf = targets.deaf();
  if (deaf.length === 0) return [];
  const waiting = await ledger.news.countWaiting();
  return deaf.map((each) => ({ ...each, waiting: waiting.get(each.name) ?? 0 }));
}

/** `ntfy "phone" takes nothing since 14:32: answered 401; 3 messages wait` */
export function deafWords({ name, type, why, since, waiting }: DeafTargetView, now: number): string {
  const who = name === type ? type : `${type} "${name}"`;
  const wait = waiting === 0 ? '' : `; ${waiting === 1 ? '1 message waits' : `${waiting} messages wait`}`;
  return `${who} takes nothing since ${clockTime(since, now)}: ${why}${wait}`;
}

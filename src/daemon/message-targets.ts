import type { TargetResults } from '@dropcast/notify';
import type { DeafTarget } from '../view/hosts/fleet-view.ts';

/** Delivery counts for the targets of one type, since the start. */
export interface SendCounts {
  readonly taken: number;
  readonly failed: number;
  /** Messages that were given up for good. */
  readonly dropped: number;
}

/** Delivery results of the notification targets: recorded by the senders, read by views and metrics. Kept in memory. */
export interface MessageTargets extends TargetResults {
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

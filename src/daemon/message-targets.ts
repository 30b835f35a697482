import type { TargetResults } from '@dropcast/notify';
import type { DeafTarget } from '../view/hosts/fleet-view.ts';

export type MessageTargets = ReturnType<typeof createMessageTargets>;

/** Delivery counts for the targets of one type, since the start. `dropped`: messages that were given up permanently. */
const none = { taken: 0, failed: 0, dropped: 0 };

/** Delivery results of the notification targets: recorded by the senders, read by views and metrics. Kept in memory. */
export function createMessageTargets() {
  const deaf = new Map<string, DeafTarget>();
  const counts = new Map<string, typeof none>();
  const count = (type: string, what: keyof typeof none, by = 1): void => {
    const before = counts.get(type) ?? none;
    counts.set(type, { ...before, [what]: before[what] + by });
  };
  const results: TargetResults = {
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
  };
  return {
    ...results,
    deaf: (): readonly DeafTarget[] => [...deaf.values()],
    counts: (type: string) => counts.get(type) ?? none,
  };
}

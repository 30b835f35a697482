import type { Plan, Priority } from '../../routing/plan.ts';
import { mayHaveArrived } from './facts.ts';
import type { Facts } from './facts.ts';

/** Most urgent first. */
export const priorities = ['high', 'normal', 'low'] as const satisfies readonly Priority[];

/** A file of more bytes is big: others must not have to wait for it. The index of the ledger's queues has this number in it (`inside.queue`). */
export const bigBytes = 256 * 1024 * 1024;

/** A file that waits for a lane: all that its turn depends on, and all of it is in its row. */
export interface Queued {
  readonly id: string;
  readonly folder: string;
  readonly priority: Priority;
  readonly isBig: boolean;
  readonly uploadUrl: string | null;
  /** A complete body may have left: the service is asked first. */
  readonly isSent: boolean;
}

/** Files that wait alike: each has its turn after those that came before it. */
export interface Line {
  readonly state: 'queued' | 'awaiting upload';
  readonly priority: Priority;
  readonly isBig: boolean;
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
}

/** Where a file waits. */
export interface Place extends Omit<Line, 'files' | 'bytes'> {
  /** Files of its line that came before it. */
  readonly before: number;
}

/** A row as the lanes see it. */
export function queuedOf(facts: Facts): Queued {
  const { id, folder, plan, version, uploadUrl } = facts;
  return {
    id,
    folder,
    priority: priorityOf(plan),
    isBig: version.size > bigBytes,
    uploadUrl,
    isSent: mayHaveArrived(facts),
  };
}

export function priorityOf(plan: Pick<Plan, 'priority'> | null): Priority {
  return plan?.priority ?? 'normal';
}

import type { Plan, Priority } from '../../routing/plan.ts';
import { mayHaveArrived } from './facts.ts';
import type { Facts } from './facts.ts';
import { urgencyOf } from './urgency.ts';

export const priorities = ['high', 'normal', 'low'] as const satisfies readonly Priority[];

/**
 * Size above which a file counts as big. Other files should not have to wait for big ones. The index on the ledger's
 * queues contains this number (`inside.queue`).
 */
export const bigBytes = 256 * 1024 * 1024;

/** A file that is waiting for a lane, with everything that decides its turn. All of it comes from its row. */
export interface Queued {
  readonly id: string;
  readonly folder: string;
  readonly priority: Priority;
  readonly isBig: boolean;
  /** See `urgencyOf`. */
  readonly urgency: number | null;
  readonly uploadUrl: string | null;
  /** Whether a complete body may have left; dropcast then checks with the service first. */
  readonly isSent: boolean;
}

/** Files that wait under the same conditions, in order of arrival. */
export interface Line {
  readonly state: 'queued' | 'awaiting upload';
  readonly priority: Priority;
  readonly isBig: boolean;
  /** Whether its files precede all others: see `urgencyOf`. */
  readonly isUrgent: boolean;
  readonly folder: string;
  readonly files: number;
  readonly bytes: number;
}

/** A file's position in its line. */
export interface QueuePosition extends Omit<Line, 'files' | 'bytes'> {
  /** Number of files in its line that arrived before it. */
  readonly before: number;
}

export function queuedOf(facts: Facts): Queued {
  const { id, folder, plan, version, uploadUrl } = facts;
  return {
    id,
    folder,
    priority: priorityOf(plan),
    isBig: version.size > bigBytes,
    urgency: urgencyOf(facts),
    uploadUrl,
    isSent: mayHaveArrived(facts),
  };
}

export function priorityOf(plan: Pick<Plan, 'priority'> | null): Priority {
  return plan?.priority ?? 'normal';
}

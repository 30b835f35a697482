import type { RequestRoom } from '../pipeline/estimate.ts';
import type { Usage } from './budget-window.ts';

/** What may leave, as the pipeline counts. */
export function roomOf({ limit, used, others, blockedMs, frees }: Usage): RequestRoom {
  return { limit, left: Math.max(0, limit - used - others), closedMs: blockedMs, frees };
}

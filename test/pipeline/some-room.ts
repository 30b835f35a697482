import type { RequestRoom } from '../../src/pipeline/estimate.ts';

/** An hour of which nothing was used, or so much. */
export function someRoom(used = 0, limit = 1_000): RequestRoom {
  return { limit, left: Math.max(0, limit - used), closedMs: 0, frees: used === 0 ? [] : [[3_600_000, used]] };
}

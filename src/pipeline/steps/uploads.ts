import type { Facts } from '../file/facts.ts';
import type { Clock } from '../file/ports.ts';

/** An upload under way. */
export interface LiveUpload {
  readonly id: string;
  readonly sentBytes: number;
  /** By the monotonic clock, in milliseconds. */
  readonly startedAt: number;
}

/** How far the uploads under way are. In memory: after a restart they begin again. */
export interface Uploads {
  progressed(facts: Pick<Facts, 'id'>, sentBytes: number): void;
  ended(id: string): void;
  list(): readonly LiveUpload[];
}

export function createUploads(clock: Clock): Uploads {
  const live = new Map<string, LiveUpload>();
  return {
    progressed: ({ id }, sentBytes) => {
      const startedAt = live.get(id)?.startedAt ?? clock.elapsed();
      live.set(id, { id, sentBytes, startedAt });
    },
    ended: (id) => {
      live.delete(id);
    },
    list: () => [...live.values()],
  };
}

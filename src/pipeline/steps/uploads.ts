import type { Facts } from '../file/facts.ts';
import type { Clock } from '../file/ports.ts';
import { createSendRate } from './send-rate.ts';

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
  /** Of all together, while any is under way; null until it was measured. */
  bytesPerSecond(): number | null;
}

export function createUploads(clock: Clock): Uploads {
  const live = new Map<string, LiveUpload>();
  const rate = createSendRate(clock);
  return {
    progressed: ({ id }, sentBytes) => {
      const before = live.get(id);
      rate.began();
      rate.sent(Math.max(0, sentBytes - (before?.sentBytes ?? 0)));
      live.set(id, { id, sentBytes, startedAt: before?.startedAt ?? clock.elapsed() });
    },
    ended: (id) => {
      live.delete(id);
      if (live.size === 0) rate.paused();
    },
    list: () => [...live.values()],
    bytesPerSecond: rate.perSecond,
  };
}

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
  /** Uploads that end in an hour at the present speed; null until it was measured. */
  filesPerHour(): number | null;
}

export function createUploads(clock: Clock): Uploads {
  const live = new Map<string, LiveUpload>();
  const bytes = createSendRate(clock, 5_000);
  const files = createSendRate(clock, 60_000);
  return {
    progressed: ({ id }, sentBytes) => {
      const before = live.get(id);
      for (const rate of [bytes, files]) rate.began();
      bytes.add(Math.max(0, sentBytes - (before?.sentBytes ?? 0)));
      live.set(id, { id, sentBytes, startedAt: before?.startedAt ?? clock.elapsed() });
    },
    ended: (id) => {
      if (live.delete(id)) files.add(1);
      if (live.size === 0) for (const rate of [bytes, files]) rate.paused();
    },
    list: () => [...live.values()],
    bytesPerSecond: bytes.perSecond,
    filesPerHour: () => {
      const perSecond = files.perSecond();
      return perSecond === null ? null : perSecond * 3_600;
    },
  };
}

import type { SnapshotStore } from '../../ledger/snapshot.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';
import type { DaySlot, DayView } from './picture.ts';

/** Files that ended in the last 24 hours, per half hour. */
export interface Day {
  told(event: DropcastEvent): void;
  view(now: number): Promise<DayView>;
}

/** States that count as an end. */
const ends: ReadonlySet<string> = new Set(['done', 'failed', 'held']);

const halfHourMs = 30 * 60_000;
const slotsOfDay = 48;

/** Recounts only the half hours in which something changed. */
export function createDay(ledger: Pick<SnapshotStore, 'ended'>): Day {
  const counted = new Map<number, Promise<DaySlot>>();
  const count = async (at: number): Promise<DaySlot> => {
    const { done, failed, held, bytes } = await ledger.ended(at, at + halfHourMs);
    return { at, done, failed: failed + held, bytes };
  };
  const forget = (endedAt: number | null | undefined): void => {
    if (endedAt === null || endedAt === undefined) return;
    for (const at of counted.keys()) if (at <= endedAt && endedAt < at + halfHourMs) counted.delete(at);
  };
  const slot = (at: number): Promise<DaySlot> => {
    const known = counted.get(at);
    if (known !== undefined) return known;
    const counting = count(at);
    counted.set(at, counting);
    // Forgets a failed count, so that the next view tries again.
    counting.catch(() => counted.delete(at));
    return counting;
  };
  return {
    told: (event) => {
      if (event.type !== 'file' && event.type !== 'elsewhere') return;
      if (event.type === 'file') forget(event.before?.endedAt);
      // The event does not state when the file ended before, so everything is recounted.
      else if (event.from !== null && ends.has(event.from)) counted.clear();
      forget(event.facts.endedAt);
    },
    view: async (now) => {
      const midnight = new Date(now).setHours(0, 0, 0, 0);
      const all = await Promise.all(beginnings(midnight, now).map(slot));
      const [first] = all;
      for (const at of counted.keys()) if (at < (first?.at ?? 0)) counted.delete(at);
      const last = all.slice(-slotsOfDay);
      const { at: _, ...today } = sum(all.filter(({ at }) => at >= midnight));
      const { done, failed, bytes } = sum(last);
      return { slots: last, done, failed, bytes, today };
    },
  };
}

/**
 * Returns the starts of all half hours since midnight or 24 hours ago, whichever is earlier. They are aligned to the
 * local clock.
 */
function beginnings(midnight: number, now: number): readonly number[] {
  const current = midnight + Math.floor((now - midnight) / halfHourMs) * halfHourMs;
  const first = Math.min(midnight, current - (slotsOfDay - 1) * halfHourMs);
  return Array.from({ length: Math.round((current - first) / halfHourMs) + 1 }, (_, n) => first + n * halfHourMs);
}

function sum(slots: readonly DaySlot[]): DaySlot {
  return slots.reduce(
    (total, { done, failed, bytes }) => ({
      ...total,
      done: total.done + done,
      failed: total.failed + failed,
      bytes: total.bytes + bytes,
    }),
    { at: 0, done: 0, failed: 0, bytes: 0 },
  );
}

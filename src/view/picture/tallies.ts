import { countEnded } from '../days.ts';
import { feedsOf } from '../outlook.ts';
import type { SnapshotStore } from '../../ledger/snapshot.ts';
import type { CountsStore } from '../../pipeline/file/selection.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';
import type { DaySlot, DayView, FeedView } from './picture.ts';
import { stateOf, type Facts } from '../../pipeline/file/facts.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import type { Config } from '../../config/config.ts';
import type { FeedWait } from '../../pipeline/rounds/publish.ts';

const ends: ReadonlySet<string> = new Set(['done', 'failed', 'held']);

const halfHourMs = 30 * 60_000;
const slotsOfDay = 48;

/** Counts files that ended in the last 24 hours. Recounts only the half hours in which something changed. */
export function createDay(ledger: CountsStore) {
  const counted = new Map<number, Promise<DaySlot>>();
  const forget = (endedAt: number | null | undefined): void => {
    if (endedAt === null || endedAt === undefined) return;
    for (const at of counted.keys()) if (at <= endedAt && endedAt < at + halfHourMs) counted.delete(at);
  };
  const slot = (at: number): Promise<DaySlot> => {
    const known = counted.get(at);
    if (known !== undefined) return known;
    const counting = countEnded(ledger, { from: at, to: at + halfHourMs });
    counted.set(at, counting);
    // Forgets a failed count, so that the next view tries again.
    counting.catch(() => counted.delete(at));
    return counting;
  };
  return {
    told: (event: DropcastEvent): void => {
      if (event.type !== 'file' && event.type !== 'elsewhere') return;
      if (event.type === 'file') forget(event.before?.endedAt);
      // The event does not state when the file ended before, so everything is recounted.
      else if (event.from !== null && ends.has(event.from)) counted.clear();
      forget(event.facts.endedAt);
    },
    view: async (now: number): Promise<DayView> => {
      const midnight = new Date(now).setHours(0, 0, 0, 0);
      const all = await Promise.all(beginnings(midnight, now).map(slot));
      const [first] = all;
      for (const at of counted.keys()) if (at < (first?.at ?? 0)) counted.delete(at);
      const last = all.slice(-slotsOfDay);
      return { slots: last, ...sum(last), today: sum(all.filter(({ at }) => at >= midnight)) };
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

function sum(slots: readonly DaySlot[]): Omit<DaySlot, 'at'> {
  const of = (member: 'done' | 'failed' | 'bytes') => slots.reduce((total, slot) => total + slot[member], 0);
  return { done: of('done'), failed: of('failed'), bytes: of('bytes') };
}

/** A line of a file's history. `at`: epoch milliseconds. */
interface Line {
  readonly at: number;
  readonly state: string;
}

const minuteMs = 60_000;

/** Counts how many files entered each state within the last hour. Keeps counts per minute, in memory. */
export function createPassed(clock: Pick<Clock, 'now'>) {
  const minutes = new Map<number, Map<string, number>>();
  const note = (at: number, state: string): void => {
    const minute = Math.floor(at / minuteMs);
    const counts = minutes.get(minute) ?? new Map<string, number>();
    counts.set(state, (counts.get(state) ?? 0) + 1);
    minutes.set(minute, counts);
  };
  const step = (before: string | null, { at, state }: Line): void => {
    if (before === state) return;
    // A file without feeds skips the stage before `done`, but still counts as having passed it.
    if (state === 'done' && before === 'processing') note(at, 'awaiting publish');
    note(at, state);
  };
  const oldest = (): number => Math.floor(clock.now() / minuteMs) - 60;
  return {
    told: (event: DropcastEvent): void => {
      if (event.type === 'file')
        step(event.before && stateOf(event.before), { at: clock.now(), state: stateOf(event.facts) });
      else if (event.type === 'elsewhere')
        event.passed.forEach((line, n) => step(event.passed[n - 1]?.state ?? event.from, line));
      else return;
      for (const minute of minutes.keys()) if (minute <= oldest()) minutes.delete(minute);
    },
    /** Adds history from before listening started. */
    before: (lines: readonly Line[]): void => {
      for (const { at, state } of lines) note(at, state);
    },
    of: (state: string): number => {
      const from = oldest();
      let files = 0;
      for (const [minute, counts] of minutes) if (minute > from) files += counts.get(state) ?? 0;
      return files;
    },
  };
}

/** Maximum number of rows searched for feeds published before the start. */
const mostRows = 500;

/** Tracks when each feed was published, and why its last attempt failed. */
export function createFeedTimes(ledger: Pick<SnapshotStore, 'latestPublished'>) {
  const published = new Map<string, number>();
  const failures = new Map<string, string>();
  let earlier: Readonly<Record<string, number>> | null = null;
  const publishedBy = (facts: Pick<Facts, 'published'>): void => {
    for (const [feed, at] of Object.entries(facts.published)) {
      if (at <= (published.get(feed) ?? 0)) continue;
      published.set(feed, at);
      failures.delete(feed);
    }
  };
  return {
    told: (event: DropcastEvent, at: number): void => {
      if (event.type === 'elsewhere') publishedBy(event.facts);
      if (event.type !== 'feed') return;
      if (event.failure === null) {
        published.set(event.feed, at);
        failures.delete(event.feed);
      } else failures.set(event.feed, event.failure.message);
    },
    /** @param waits feeds that files are waiting for */
    views: async (config: Config, waits: readonly FeedWait[]): Promise<readonly FeedView[]> => {
      earlier ??= await ledger.latestPublished(mostRows);
      const before = earlier;
      const names = new Set([...feedsOf(config), ...waits.map(({ feed }) => feed)]);
      return [...names].map((feed) => {
        const wait = waits.find((each) => each.feed === feed);
        return {
          feed,
          published_at: published.get(feed) ?? before[feed] ?? null,
          waiting: wait?.files ?? 0,
          next_at: wait === undefined ? null : (wait.nextTryAt ?? wait.latestAt),
          failure: wait?.failure?.message ?? failures.get(feed) ?? null,
        };
      });
    },
  };
}

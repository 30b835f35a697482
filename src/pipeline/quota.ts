import type { Logger } from '../log/logger.ts';
import type { QuotaAmount, QuotaRoom } from './estimate.ts';
import type { Events, Pause } from './events.ts';
import type { Facts } from './file/facts.ts';
import { ownQuotaCode } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { Clock, CreatedStore, NoteStore } from './file/ports.ts';

/** The present day or month of a quota, from `since` to before `until`. Epoch milliseconds. */
export interface QuotaPeriod {
  readonly since: number;
  readonly until: number;
}

export interface QuotaNow extends QuotaPeriod {
  readonly most: QuotaAmount;
  readonly per: 'day' | 'month';
}

export interface QuotaWorld {
  readonly store: CreatedStore & NoteStore;
  readonly clock: Clock;
  readonly events: Events;
  readonly logger: Logger;
  /** Whether other hosts create records in the same ledger. */
  readonly isShared: boolean;
  /** Null if there is no quota. A reload may change it. */
  quota(): QuotaNow | null;
  /** Returns the duration of a file in seconds; null if it is unknown. */
  durationOf(facts: Facts): Promise<number | null>;
  ringAt(at: number): void;
}

/** Name of the note with the minutes of the present period, which the rows do not have. */
const minutesNote = 'quota_minutes';

/** How long a count may be used before it is renewed. */
const countEveryMs = 10_000;

/** Wait time for a file that will fit only if a request under way is refused. */
const againMs = 5_000;

export type Quota = ReturnType<typeof createQuota>;

/**
 * Keeps new files within `service.quota`. The count of videos and bytes comes from the rows, so it survives restarts
 * and includes all hosts of a fleet. The first file that does not fit ends the period for all.
 */
export function createQuota(world: QuotaWorld) {
  const { store, clock, events, logger } = world;
  let counted: { readonly since: number; readonly at: number; readonly used: QuotaAmount } | null = null;
  const underWay = new Map<string, QuotaAmount>();
  let spent: { readonly quota: QuotaNow; readonly since: number; readonly why: string } | null = null;
  let last: Promise<unknown> = Promise.resolve();

  /** Runs checks and changes of the count one after the other. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };

  /** Returns what was created in the present period, as counted at most `atMostMs` ago. */
  const count = async (quota: QuotaNow, atMostMs = countEveryMs): Promise<QuotaAmount> => {
    const { since } = quota;
    const before = counted?.since === since ? counted : null;
    if (before !== null && clock.elapsed() - before.at < atMostMs) return before.used;
    const stored = await usedIn(store, quota);
    // The row of a record that was created just now may not be written yet.
    const used = before === null ? stored : combined(before.used, stored, Math.max);
    counted = { since, at: clock.elapsed(), used };
    return used;
  };

  const withUnderWay = (used: QuotaAmount): QuotaAmount => [...underWay.values()].reduce(sum, used);

  const spend = (quota: QuotaNow, limit: keyof QuotaAmount, used: QuotaAmount): void => {
    if (spent !== null) return;
    spent = { quota, since: clock.now(), why: spentWords(quota, limit, used) };
    world.ringAt(clock.elapsed() + Math.max(0, quota.until - clock.now()));
    events.emit({ type: 'paused', pause: pauseOf(spent) });
  };

  /** Ends the wait once the period is over, or the setting has changed. */
  const look = (quota: QuotaNow | null): void => {
    if (spent === null) return;
    const { since, most } = spent.quota;
    if (quota?.since === since && JSON.stringify(quota.most) === JSON.stringify(most)) return;
    const pause = pauseOf(spent);
    spent = null;
    events.emit({ type: 'resumed', pause });
  };

  return {
    /** Whether new files may start. @throws any error from the ledger */
    mayCreate: async (): Promise<boolean> => {
      const quota = world.quota();
      look(quota);
      if (quota === null) return true;
      if (spent !== null) return false;
      const used = await inTurn(() => count(quota));
      const full = limits.find((limit) => used[limit] >= quota.most[limit]);
      if (full !== undefined) spend(quota, full, used);
      // A request that is under way may be refused, and then leaves room.
      const likely = withUnderWay(used);
      return limits.every((limit) => likely[limit] < quota.most[limit]);
    },
    /**
     * Counts a file whose create request is about to be sent. @returns why it has to wait for the next period, or null
     * @throws any error from the ledger
     */
    admit: async (facts: Facts): Promise<Failure | null> => {
      const quota = world.quota();
      look(quota);
      if (quota === null || underWay.has(facts.id)) return null;
      const own = await amountOf(facts, quota);
      return inTurn(async () => {
        // Other hosts create records too; only the requests that they have under way are unknown.
        const used = await count(quota, world.isShared ? 0 : countEveryMs);
        const likely = withUnderWay(used);
        const full = limits.find((limit) => used[limit] + own[limit] > quota.most[limit]);
        // A file that is larger than the whole quota may go first: only the service can refuse it.
        if (full !== undefined && used.videos > 0) spend(quota, full, used);
        if (spent !== null) return waits(spent.why, quota.until - clock.now());
        const fits = limits.every((limit) => likely[limit] + own[limit] <= quota.most[limit]);
        if (!fits && likely.videos > 0) return waits('service.quota: other files may use up the rest', againMs);
        underWay.set(facts.id, own);
        return null;
      });
    },
    /** Records that the service created a record. Durable when the promise resolves. */
    created: ({ id }: Facts): Promise<void> =>
      inTurn(async () => {
        const own = underWay.get(id);
        if (own === undefined || counted === null) return;
        underWay.delete(id);
        const { since } = counted;
        counted = { ...counted, used: sum(counted.used, own) };
        if (own.minutes === 0) return;
        await store.saveNote(minutesNote, { since, minutes: (await minutesSince(store, since)) + own.minutes });
      }),
    /** Records that the file's step has ended. */
    ended: (id: string): void => {
      underWay.delete(id);
    },
    /** Returns why new files wait for the next period, or null. */
    pause: (): Pause | null => spent && pauseOf(spent),
    /** Returns what is left as of the last count; null without a quota, or before the first count. */
    room: (): QuotaRoom | null => {
      const quota = world.quota();
      if (quota === null || counted === null) return null;
      return roomOfQuota(quota, withUnderWay(counted.used), clock.now());
    },
  };

  async function amountOf(facts: Facts, { most }: QuotaNow): Promise<QuotaAmount> {
    const bytes = facts.sourceUrl === null ? facts.version.size : 0;
    if (most.minutes === Infinity) return { videos: 1, bytes, minutes: 0 };
    const seconds = await world.durationOf(facts);
    if (seconds === null)
      logger.info('The duration of a file is unknown; it counts as no minutes of service.quota', { file: facts.id });
    return { videos: 1, bytes, minutes: (seconds ?? 0) / 60 };
  }
}

/** Returns what was created in the present period, according to the ledger. @throws any error from the ledger */
export async function usedIn(
  store: Pick<CreatedStore, 'createdSince'> & Pick<NoteStore, 'note'>,
  { since, most }: QuotaNow,
): Promise<QuotaAmount> {
  const { videos, bytes } = await store.createdSince(since);
  return { videos, bytes, minutes: most.minutes === Infinity ? 0 : await minutesSince(store, since) };
}

async function minutesSince(store: Pick<NoteStore, 'note'>, since: number): Promise<number> {
  const { since: from, minutes } = Object(await store.note(minutesNote)) as { since?: unknown; minutes?: unknown };
  return from === since && typeof minutes === 'number' && minutes >= 0 ? minutes : 0;
}

/**
 * Finds the pause in which the service refuses every new video. A spent `service.quota` is none: it ends at a known
 * time, so it counts as a limit. Pure.
 */
export function refusalOfAll(pauses: readonly Pause[]): Pause | null {
  return pauses.find(({ channel, code }) => channel === undefined && code !== ownQuotaCode) ?? null;
}

export function roomOfQuota({ most, since, until }: QuotaNow, used: QuotaAmount, nowMs: number): QuotaRoom {
  const left = combined(most, used, (all, spent) => Math.max(0, all - spent));
  const minutesPerVideo = used.videos === 0 ? null : used.minutes / used.videos;
  return { left, most, minutesPerVideo, resetsInMs: Math.max(0, until - nowMs), periodMs: until - since };
}

const limits = ['videos', 'bytes', 'minutes'] as const satisfies readonly (keyof QuotaAmount)[];

function combined(one: QuotaAmount, other: QuotaAmount, how: (one: number, other: number) => number): QuotaAmount {
  const [videos, bytes, minutes] = [
    how(one.videos, other.videos),
    how(one.bytes, other.bytes),
    how(one.minutes, other.minutes),
  ];
  return { videos, bytes, minutes };
}

const sum = (one: QuotaAmount, other: QuotaAmount): QuotaAmount => combined(one, other, (a, b) => a + b);

function spentWords({ most, per }: QuotaNow, limit: keyof QuotaAmount, used: QuotaAmount): string {
  const period = per === 'day' ? 'today' : 'this month';
  return `service.quota: ${Math.floor(used[limit])} of ${Math.floor(most[limit])} ${limit} are used ${period}`;
}

const waits = (message: string, retryAfterMs: number): Failure => ({
  kind: 'suspended',
  code: ownQuotaCode,
  message,
  retryAfterMs: Math.max(1_000, retryAfterMs),
});

function pauseOf({ quota, since, why }: { quota: QuotaNow; since: number; why: string }): Pause {
  const about = { kind: 'suspended', holds: 'new files', trouble: 'quota', code: ownQuotaCode } as const;
  return { ...about, why, since, probes: 0, nextProbeAt: quota.until };
}

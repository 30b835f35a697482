import type { KeptEvents } from '../events.ts';
import type { RequestRoom } from '../estimate.ts';
import { freeRequests, keptRequests } from '../request-shares.ts';
import type { Wanted } from '../request-shares.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import { unknownNameCodes } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import { createBackoffs } from './backoffs.ts';
import type { Clock, DueFeed, FeedBatch, FeedStore, Published, PublishStore, VideoLibrary } from '../file/ports.ts';
import type { CountStore } from '../file/selection.ts';
import { sideBySide } from './jobs.ts';
import type { Runner } from '../steps/runner.ts';

/** States of files that are on their way to being ready. */
const underWay = ['queued', 'awaiting upload', 'processing'];

export interface PublishWorld {
  readonly store: PublishStore & FeedStore & CountStore;
  readonly library: Pick<VideoLibrary, 'publish'>;
  readonly runner: Pick<Runner, 'apply'>;
  readonly clock: Clock;
  readonly events: KeptEvents;
  /** The requests that may be sent, and the competing needs for them. */
  room(): RequestRoom;
  wanted(): Promise<Wanted>;
  /**
   * `quietMs`: how long no further file must become ready before a feed is published. `atMostMs`: how long the first
   * ready file may wait.
   */
  readonly timing: () => { readonly quietMs: number; readonly atMostMs: number; readonly retry: RetryPolicy };
}

/** A feed that is waiting to be published. Times are epoch milliseconds. */
export interface FeedWait {
  readonly feed: string;
  readonly since: number;
  readonly files: number;
  readonly latestAt: number;
  /** Why the last publish failed, and when the next try is due. */
  readonly failure: Failure | null;
  readonly nextTryAt: number | null;
}

/** The answer to a publish. `nextTryAt` (epoch milliseconds): when it is tried again; null if it is not. */
export type FeedAnswer =
  | { readonly ok: true; readonly files: number; readonly videos: number | null }
  | { readonly ok: false; readonly failure: Failure; readonly nextTryAt: number | null };

/** Everything that one request publishes: waiting files, or a feed that is due without any. */
interface Batch extends FeedBatch {
  readonly due: DueFeed | null;
}

/** A published file whose row could not be written, because a step was holding it. */
interface Unwritten {
  readonly id: string;
  readonly feed: string;
  readonly at: number;
}

/** Groups publishes into one `POST /feeds/:id/publish` for all files that became ready together (design section 7). */
export function createPublish(world: PublishWorld) {
  const { store, library, runner, clock, timing, events } = world;
  const backoffs = createBackoffs(clock, () => timing().retry);
  const failures = new Map<string, Failure>();
  const asking = new Set<{ readonly feed: string; readonly lastAt: number; answer(answer: FeedAnswer): void }>();
  let unwritten: readonly Unwritten[] = [];
  let waits: readonly FeedWait[] = [];
  let dueAt = Infinity;

  const write = async (published: readonly Unwritten[]): Promise<void> => {
    const applied = await sideBySide(published, ({ id, feed, at }) =>
      runner.apply(id, { type: 'PUBLISHED', feed, at }),
    );
    unwritten = published.filter((_, n) => applied[n] === 'busy');
  };

  const publish = async (batch: Batch, signal: AbortSignal): Promise<void> => {
    // The ids were read before the request. A file that becomes ready during it waits for the next publish.
    const answer = await library.publish(batch.feed, signal);
    if (answer.ok) return succeed(batch, answer.value);
    if (!signal.aborted) await fail(batch, describe(batch.feed, answer.failure));
  };

  const succeed = async ({ feed, ids, due }: Batch, published: Published | null): Promise<void> => {
    backoffs.forget(feed);
    failures.delete(feed);
    const at = clock.now();
    const event = { type: 'feed', feed, files: ids.length, failure: null } as const;
    // Written before the rows. After a crash in between, the files still waiting cause one more publish of the feed.
    await store.noteFeedAnswer({ feed, lastAt: due?.lastAt ?? null }, events.rowOf(event));
    await write([...unwritten, ...ids.map((id) => ({ id, feed, at }))]);
    events.emit(event);
    tell(due, { ok: true, files: ids.length, videos: published?.videos ?? null });
  };

  const fail = async ({ feed, ids, missing, due }: Batch, failure: Failure): Promise<void> => {
    failures.set(feed, failure);
    const isOver = !backoffs.retryAfter(feed, failure);
    const event = { type: 'feed', feed, files: ids.length, failure } as const;
    // An unknown feed was already reported when it became unknown.
    const row = isUnknown(failure) ? null : events.rowOf(event);
    await store.noteFeedAnswer({ feed, lastAt: isOver ? (due?.lastAt ?? null) : null }, row);
    if (isOver) {
      failures.delete(feed);
      await note(ids, { ...failure, kind: 'permanent' });
    } else await noteMissing({ feed, ids, missing }, failure);
    if (!isUnknown(failure)) events.emit(event);
    tell(due, { ok: false, failure, nextTryAt: onTheWall(backoffs.nextTryAt(feed)) });
  };

  const note = (ids: readonly string[], failure: Failure): Promise<unknown> =>
    sideBySide(ids, (id) => runner.apply(id, { type: 'PUBLISH_FAILED', failure }));

  /** Records in the rows that a feed is missing, because only the operator can fix it, or that it is no longer. */
  const noteMissing = ({ feed, ids, missing }: Pick<Batch, 'feed' | 'ids' | 'missing'>, failure: Failure) => {
    const isNews = (id: string): boolean => (isUnknown(failure) ? !missing.has(id) : missing.get(id) === feed);
    return note(ids.filter(isNews), failure);
  };

  /** Answers the callers of `now` that asked before the request began. */
  const tell = (due: DueFeed | null, answer: FeedAnswer): void => {
    for (const one of asking) {
      if (due === null || one.feed !== due.feed || one.lastAt > due.lastAt) continue;
      asking.delete(one);
      one.answer(answer);
    }
  };

  const onTheWall = (elapsed: number | null): number | null =>
    elapsed === null ? null : elapsed - clock.elapsed() + clock.now();

  const atMost = async (feeds: number): Promise<number> =>
    publishAtMostMs(timing().atMostMs, world.room(), { ...(await world.wanted()), publishes: feeds });

  const isUnwritten = (id: string, feed: string): boolean =>
    unwritten.some((one) => one.id === id && one.feed === feed);

  const waitOf = ({ feed, ids, firstReadyAt }: FeedBatch, atMostMs: number): FeedWait => ({
    feed,
    since: firstReadyAt,
    files: ids.length,
    latestAt: firstReadyAt + atMostMs,
    failure: failures.get(feed) ?? null,
    nextTryAt: onTheWall(backoffs.nextTryAt(feed)),
  });

  return {
    /** Publishes the feeds that are due, one request at a time. A failed publish is tried again later. */
    run: async (signal: AbortSignal): Promise<void> => {
      await write(unwritten);
      const batches = together(await store.waiting(), await store.feedsDue());
      const now = { ...timing(), atMostMs: batches.length === 0 ? 0 : await atMost(batches.length) };
      waits = batches.map((batch) => waitOf(batch, now.atMostMs));
      dueAt = Infinity;
      for (const batch of batches) {
        const ids = batch.ids.filter((id) => !isUnwritten(id, batch.feed));
        const isNothing = ids.length === 0 && batch.due === null;
        if (signal.aborted || isNothing) continue;
        if (backoffs.isBackingOff(batch.feed)) {
          const failure = failures.get(batch.feed);
          if (failure !== undefined && isUnknown(failure)) await noteMissing({ ...batch, ids }, failure);
          continue;
        }
        const isNow = batch.due?.isNow === true;
        const expected = isNow ? 0 : await store.count({ states: underWay, feed: batch.feed }, 1);
        const inMs = isNow ? 0 : dueInMs(batch, clock.now(), expected > 0, now);
        if (inMs > 0) {
          dueAt = Math.min(dueAt, clock.elapsed() + inMs);
          continue;
        }
        await publish({ ...batch, ids }, signal);
        waits = waits.map((wait) => (wait.feed === batch.feed ? waitOf(batch, now.atMostMs) : wait));
      }
      dueAt = Math.min(dueAt, ...batches.flatMap(({ feed }) => backoffs.nextTryAt(feed) ?? []));
    },
    /**
     * Makes a feed due in the next run, at the operator's request. Durable.
     * @returns the result, once the service has answered
     */
    now: async (feed: string): Promise<{ readonly answer: Promise<FeedAnswer> }> => {
      const { lastAt } = await store.noteFeedDue(feed, clock.now(), true);
      backoffs.forget(feed);
      const { promise, resolve } = Promise.withResolvers<FeedAnswer>();
      asking.add({ feed, lastAt, answer: resolve });
      return { answer: promise };
    },
    /** Returns the waiting feeds, as of the last check. */
    waits: (): readonly FeedWait[] => waits,
    /** Returns when the next feed is due on the monotonic clock, as of the last check; Infinity if none is known. */
    dueAt: (): number => dueAt,
  };
}

function together(waiting: readonly FeedBatch[], dueFeeds: readonly DueFeed[]): readonly Batch[] {
  const batches = new Map(waiting.map((batch): [string, Batch] => [batch.feed, { ...batch, due: null }]));
  for (const due of dueFeeds) {
    const batch = batches.get(due.feed);
    batches.set(due.feed, {
      feed: due.feed,
      ids: batch?.ids ?? [],
      missing: batch?.missing ?? new Map<string, string>(),
      firstReadyAt: Math.min(batch?.firstReadyAt ?? Infinity, due.firstAt),
      lastReadyAt: Math.max(batch?.lastReadyAt ?? 0, due.lastAt),
      due,
    });
  }
  return [...batches.values()];
}

/** Longest time that a short request budget makes a ready video wait for others. */
const longestMs = 30 * 60_000;

/**
 * Returns the longest time that the first ready file of a feed waits for others. If more records are wanted than the
 * hour has requests, each publish costs one video; all feeds then share half of the requests reserved for finishing.
 * Pure.
 */
export function publishAtMostMs(atMostMs: number, room: RequestRoom, wanted: Wanted): number {
  if (freeRequests(room.left, room.limit, wanted) > keptRequests(room.limit)) return atMostMs;
  const perHour = Math.max(1, keptRequests(room.limit) / 2);
  return Math.max(atMostMs, Math.min(longestMs, (Math.max(1, wanted.publishes) * 3_600_000) / perHour));
}

/**
 * Returns milliseconds until a feed is published; 0 for now. While more files for the feed are in progress, it waits
 * for them up to `atMostMs`; after the last one it waits `quietMs`. Pure.
 */
export function dueInMs(
  batch: Pick<FeedBatch, 'firstReadyAt' | 'lastReadyAt'>,
  now: number,
  isExpecting: boolean,
  timing: { readonly quietMs: number; readonly atMostMs: number },
): number {
  // The clock was set back, so the wait cannot be measured.
  if (now < batch.firstReadyAt) return 0;
  const latestMs = batch.firstReadyAt + timing.atMostMs - now;
  return Math.max(0, isExpecting ? latestMs : Math.min(latestMs, batch.lastReadyAt + timing.quietMs - now));
}

function isUnknown({ code }: Failure): boolean {
  return code === unknownNameCodes.feed;
}

/** Describes a missing feed as what it is: a configuration mistake, not a deleted video. */
function describe(feed: string, failure: Failure): Failure {
  if (failure.kind !== 'gone') return failure;
  return { ...failure, kind: 'permanent', code: 'feed_not_found', message: `the service has no feed ${feed}` };
}

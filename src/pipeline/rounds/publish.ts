import type { Events } from '../events.ts';
import type { RequestRoom } from '../estimate.ts';
import { freeRequests, keptRequests } from '../request-shares.ts';
import type { Wanted } from '../request-shares.ts';
import type { RetryPolicy } from '../file/backoff.ts';
import { unknownNameCodes } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import { createBackoffs } from './backoffs.ts';
import type { Clock, FeedBatch, PublishStore, VideoLibrary } from '../file/ports.ts';
import { sideBySide } from './side-by-side.ts';
import type { Runner } from '../steps/runner.ts';

export interface PublishWorld {
  readonly store: PublishStore;
  readonly library: Pick<VideoLibrary, 'publish'>;
  readonly runner: Pick<Runner, 'apply'>;
  readonly clock: Clock;
  readonly events: Events;
  /** Requests that may leave, and what needs them. */
  room(): RequestRoom;
  wanted(): Promise<Wanted>;
  /** How long no further file became ready before a feed is published, and how long the first may wait at most. */
  readonly timing: () => { readonly quietMs: number; readonly atMostMs: number; readonly retry: RetryPolicy };
}

export interface Publish {
  /** Publishes the feeds that are due, one request at a time. What fails is tried again later. */
  run(signal: AbortSignal): Promise<void>;
  /** Feeds that wait, as they were at the last look. */
  waits(): readonly FeedWait[];
  /** When the next feed is due, as of the last look, by the monotonic clock; Infinity: none is known to be. */
  dueAt(): number;
}

/** A feed that waits to be published. Times are epoch milliseconds. */
export interface FeedWait {
  readonly feed: string;
  /** That wait for it. */
  readonly files: number;
  readonly latestAt: number;
  /** Why it could not be published, and when that is tried again. */
  readonly failure: Failure | null;
  readonly nextTryAt: number | null;
}

/** A file that is published, but was held when its row was to say so. */
interface Unwritten {
  readonly id: string;
  readonly feed: string;
  readonly at: number;
}

/** Coalesces: one `POST /feeds/:id/publish` for all files that became ready together (design section 7). */
export function createPublish(world: PublishWorld): Publish {
  const { store, library, runner, clock, timing, events } = world;
  const backoffs = createBackoffs(clock, () => timing().retry);
  const failures = new Map<string, Failure>();
  let unwritten: readonly Unwritten[] = [];
  let waits: readonly FeedWait[] = [];
  let dueAt = Infinity;

  const write = async (published: readonly Unwritten[]): Promise<void> => {
    const applied = await sideBySide(published, ({ id, feed, at }) =>
      runner.apply(id, { type: 'PUBLISHED', feed, at }),
    );
    unwritten = published.filter((_, n) => applied[n] === 'busy');
  };

  const publish = async ({ feed, ids }: FeedBatch, signal: AbortSignal): Promise<void> => {
    // The ids were taken before the request: a file that becomes ready during it waits for the next publish.
    const answer = await library.publish(feed, signal);
    if (answer.ok) {
      backoffs.forget(feed);
      failures.delete(feed);
      const at = clock.now();
      await write([...unwritten, ...ids.map((id) => ({ id, feed, at }))]);
      events.emit({ type: 'feed', feed, files: ids.length, failure: null });
      return;
    }
    if (signal.aborted) return;
    const failure = describe(feed, answer.failure);
    failures.set(feed, failure);
    if (!backoffs.retryAfter(feed, failure)) {
      failures.delete(feed);
      const refused = { type: 'PUBLISH_FAILED', failure: { ...failure, kind: 'permanent' } } as const;
      await sideBySide(ids, (id) => runner.apply(id, refused));
    }
    // Said once, when it became unknown.
    if (failure.code !== unknownNameCodes.feed) events.emit({ type: 'feed', feed, files: ids.length, failure });
  };

  const atMost = async (feeds: number): Promise<number> =>
    publishAtMostMs(timing().atMostMs, world.room(), { ...(await world.wanted()), publishes: feeds });

  const isUnwritten = (id: string, feed: string): boolean =>
    unwritten.some((one) => one.id === id && one.feed === feed);

  const waitOf = ({ feed, ids, firstReadyAt }: FeedBatch, atMostMs: number): FeedWait => {
    const nextTryAt = backoffs.nextTryAt(feed);
    return {
      feed,
      files: ids.length,
      latestAt: firstReadyAt + atMostMs,
      failure: failures.get(feed) ?? null,
      nextTryAt: nextTryAt === null ? null : nextTryAt - clock.elapsed() + clock.now(),
    };
  };

  return {
    run: async (signal) => {
      await write(unwritten);
      const batches = await store.waiting();
      const now = { ...timing(), atMostMs: batches.length === 0 ? 0 : await atMost(batches.length) };
      waits = batches.map((batch) => waitOf(batch, now.atMostMs));
      dueAt = Infinity;
      for (const batch of batches) {
        const ids = batch.ids.filter((id) => !isUnwritten(id, batch.feed));
        if (signal.aborted || ids.length === 0 || backoffs.isBackingOff(batch.feed)) continue;
        const inMs = dueInMs(batch, clock.now(), await store.isExpecting(batch.feed), now);
        if (inMs > 0) {
          dueAt = Math.min(dueAt, clock.elapsed() + inMs);
          continue;
        }
        await publish({ ...batch, ids }, signal);
        waits = waits.map((wait) => (wait.feed === batch.feed ? waitOf(batch, now.atMostMs) : wait));
      }
      dueAt = Math.min(dueAt, ...batches.flatMap(({ feed }) => backoffs.nextTryAt(feed) ?? []));
    },
    waits: () => waits,
    dueAt: () => dueAt,
  };
}

/** The longest that a short budget makes a ready video wait for others. */
const longestMs = 30 * 60_000;

/**
 * Pure: how long the first ready file of a feed waits for others at most. Where more records are wanted than the hour has requests, each
 * publish is a video less: then all feeds share half of what is kept for finishing.
 */
export function publishAtMostMs(atMostMs: number, room: RequestRoom, wanted: Wanted): number {
  if (freeRequests(room.left, room.limit, wanted) > keptRequests(room.limit)) return atMostMs;
  const perHour = Math.max(1, keptRequests(room.limit) / 2);
  return Math.max(atMostMs, Math.min(longestMs, (Math.max(1, wanted.publishes) * 3_600_000) / perHour));
}

/**
 * Pure: how long until a feed is published, in milliseconds; 0 for now. While more files are on their way to it, it waits for them up to
 * `atMostMs`; after the last one it waits `quietMs`.
 */
export function dueInMs(
  batch: Pick<FeedBatch, 'firstReadyAt' | 'lastReadyAt'>,
  now: number,
  isExpecting: boolean,
  timing: { readonly quietMs: number; readonly atMostMs: number },
): number {
  // The clock was set back.
  if (now < batch.firstReadyAt) return 0;
  const latestMs = batch.firstReadyAt + timing.atMostMs - now;
  return Math.max(0, isExpecting ? latestMs : Math.min(latestMs, batch.lastReadyAt + timing.quietMs - now));
}

/** A feed that does not exist is the configuration's mistake, not a deleted video. */
function describe(feed: string, failure: Failure): Failure {
  if (failure.kind !== 'gone') return failure;
  return { ...failure, kind: 'permanent', code: 'feed_not_found', message: `the service knows no feed ${feed}` };
}

import type { Events } from '../events.ts';
import type { RetryPolicy } from '../file/backoff.ts';
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
  /** How long no further file became ready before a feed is published, and how long the first may wait at most. */
  readonly timing: () => { readonly quietMs: number; readonly atMostMs: number; readonly retry: RetryPolicy };
}

export interface Publish {
  /** Publishes the feeds that are due, one request at a time. What fails is tried again later. */
  run(signal: AbortSignal): Promise<void>;
}

/** A file that is published, but was held when its row was to say so. */
interface Unwritten {
  readonly id: string;
  readonly feed: string;
  readonly at: number;
}

/** Coalesces: one `POST /feeds/:id/publish` for all files that became ready together (design section 7). */
export function createPublish({ store, library, runner, clock, timing, events }: PublishWorld): Publish {
  const backoffs = createBackoffs(clock, () => timing().retry);
  let unwritten: readonly Unwritten[] = [];

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
      const at = clock.now();
      await write([...unwritten, ...ids.map((id) => ({ id, feed, at }))]);
      events.emit({ type: 'feed', feed, files: ids.length, failure: null });
      return;
    }
    if (signal.aborted) return;
    const failure = describe(feed, answer.failure);
    if (!backoffs.retryAfter(feed, failure)) {
      const refused = { type: 'PUBLISH_FAILED', failure: { ...failure, kind: 'permanent' } } as const;
      await sideBySide(ids, (id) => runner.apply(id, refused));
    }
    events.emit({ type: 'feed', feed, files: ids.length, failure });
  };

  const isUnwritten = (id: string, feed: string): boolean =>
    unwritten.some((one) => one.id === id && one.feed === feed);

  return {
    run: async (signal) => {
      await write(unwritten);
      for (const batch of await store.waiting()) {
        const ids = batch.ids.filter((id) => !isUnwritten(id, batch.feed));
        if (signal.aborted || ids.length === 0 || backoffs.isBackingOff(batch.feed)) continue;
        if (!isDue(batch, clock.now(), await store.isExpecting(batch.feed), timing())) continue;
        await publish({ ...batch, ids }, signal);
      }
    },
  };
}

/**
 * Pure: whether a feed is published now. While more files are on their way to it, it waits for them up to `atMostMs`; after
 * the last one it waits `quietMs`.
 */
export function isDue(
  batch: Pick<FeedBatch, 'firstReadyAt' | 'lastReadyAt'>,
  now: number,
  isExpecting: boolean,
  timing: { readonly quietMs: number; readonly atMostMs: number },
): boolean {
  if (now - batch.firstReadyAt >= timing.atMostMs || now < batch.firstReadyAt) return true;
  return !isExpecting && now - batch.lastReadyAt >= timing.quietMs;
}

/** A feed that does not exist is the configuration's mistake, not a deleted video. */
function describe(feed: string, failure: Failure): Failure {
  if (failure.kind !== 'gone') return failure;
  return { ...failure, kind: 'permanent', code: 'feed_not_found', message: `the service knows no feed ${feed}` };
}

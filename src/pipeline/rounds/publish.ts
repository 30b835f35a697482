import type { RetryPolicy } from '../file/backoff.ts';
import type { Failure } from '../file/failure.ts';
import { createPatience } from './patience.ts';
import type { Clock, FeedBatch, PublishStore, VideoLibrary } from '../file/ports.ts';
import type { Runner } from '../steps/runner.ts';

export interface PublisherWorld {
  readonly store: PublishStore;
  readonly library: VideoLibrary;
  readonly runner: Pick<Runner, 'apply'>;
  readonly clock: Clock;
  /** How long no further file became ready before a feed is published, and how long the first may wait at most. */
  readonly timing: () => { readonly quietMs: number; readonly atMostMs: number; readonly retry: RetryPolicy };
}

export interface Publisher {
  /** Publishes the feeds that are due, one request per feed at a time. Returns the failures, which are kept for the next try. */
  run(signal: AbortSignal): Promise<readonly Failure[]>;
}

/** A file that is published, but was busy when it was to be told. */
interface Untold {
  readonly id: string;
  readonly feed: string;
  readonly at: number;
}

/** Coalesces: one `POST /feeds/:id/publish` for all files that became ready together (design section 7). */
export function createPublisher({ store, library, runner, clock, timing }: PublisherWorld): Publisher {
  const patience = createPatience(clock, () => timing().retry);
  let untold: readonly Untold[] = [];

  const tell = async (published: readonly Untold[]): Promise<void> => {
    const busy: Untold[] = [];
    for (const one of published) {
      const { id, feed, at } = one;
      if ((await runner.apply(id, { type: 'PUBLISHED', feed, at })) === 'busy') busy.push(one);
    }
    untold = busy;
  };

  const publish = async ({ feed, ids }: FeedBatch, signal: AbortSignal): Promise<Failure | null> => {
    // The ids were taken before the request: a file that becomes ready during it waits for the next publish.
    const answer = await library.publish(feed, signal);
    if (answer.ok) {
      patience.forget(feed);
      const at = clock.now();
      await tell([...untold, ...ids.map((id) => ({ id, feed, at }))]);
      return null;
    }
    if (signal.aborted) return null;
    const failure = describe(feed, answer.failure);
    if (!patience.isWorthAnother(feed, failure)) {
      for (const id of ids)
        await runner.apply(id, { type: 'PUBLISH_FAILED', failure: { ...failure, kind: 'permanent' } });
    }
    return failure;
  };

  const isUntold = (id: string, feed: string): boolean => untold.some((one) => one.id === id && one.feed === feed);

  return {
    run: async (signal) => {
      const failures: Failure[] = [];
      await tell(untold);
      for (const batch of await store.waiting()) {
        const ids = batch.ids.filter((id) => !isUntold(id, batch.feed));
        if (signal.aborted || ids.length === 0 || patience.rests(batch.feed)) continue;
        if (!isDue(batch, clock.now(), await store.isExpecting(batch.feed), timing())) continue;
        const failure = await publish({ ...batch, ids }, signal);
        if (failure !== null) failures.push(failure);
      }
      return failures;
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

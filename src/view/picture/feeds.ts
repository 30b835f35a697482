import type { Config } from '../../config/config.ts';
import type { SnapshotStore } from '../../ledger/snapshot.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';
import type { FeedWait } from '../../pipeline/rounds/publish.ts';
import type { FeedView } from './picture.ts';

/** Tracks when each feed was published, and why its last attempt failed. */
export interface FeedTimes {
  told(event: DropcastEvent, at: number): void;
  /** @param waits feeds that files are waiting for */
  views(config: Pick<Config, 'folders'>, waits: readonly FeedWait[]): Promise<readonly FeedView[]>;
}

/** Maximum number of rows searched for feeds published before the start. */
const mostRows = 500;

export function createFeedTimes(ledger: Pick<SnapshotStore, 'latestPublished'>): FeedTimes {
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
    told: (event, at) => {
      if (event.type === 'elsewhere') publishedBy(event.facts);
      if (event.type !== 'feed') return;
      if (event.failure === null) {
        published.set(event.feed, at);
        failures.delete(event.feed);
      } else failures.set(event.feed, event.failure.message);
    },
    views: async ({ folders }, waits) => {
      earlier ??= await ledger.latestPublished(mostRows);
      const before = earlier;
      const configured = folders.flatMap(({ rules }) => rules.flatMap(({ publish }) => publish));
      const names = new Set([...configured, ...waits.map(({ feed }) => feed)]);
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

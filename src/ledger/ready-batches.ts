import type { Selectable } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { feedsToPublish } from '../pipeline/file/facts.ts';
import type { FeedBatch } from '../pipeline/file/ports.ts';
import type { FileTable } from './schema.ts';

/** All that is read of a row: it is asked every second, while thousands may wait. */
export const readyColumns = ['id', 'ready_at', 'plan', 'published'] as const;

type ReadyRow = Pick<Selectable<FileTable>, (typeof readyColumns)[number]>;

/** The files that wait to be published, by the feeds they are not in yet. */
export function batchesOf(rows: readonly ReadyRow[]): readonly FeedBatch[] {
  const byFeed = new Map<string, ReadyRow[]>();
  for (const row of rows) {
    for (const feed of unpublishedFeeds(row)) {
      const ready = byFeed.get(feed) ?? [];
      ready.push(row);
      byFeed.set(feed, ready);
    }
  }
  return [...byFeed].map(([feed, ready]) => {
    const times = ready.map(({ ready_at: at }) => at ?? 0).toSorted((one, other) => one - other);
    return { feed, ids: ready.map(({ id }) => id), firstReadyAt: times.at(0) ?? 0, lastReadyAt: times.at(-1) ?? 0 };
  });
}

function unpublishedFeeds(row: ReadyRow): readonly string[] {
  const plan = row.plan === null ? null : (JSON.parse(row.plan) as Facts['plan']);
  const published = JSON.parse(row.published) as Facts['published'];
  return feedsToPublish({ plan, published });
}

import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { feedsToPublish } from '../pipeline/file/facts.ts';
import { missingFeed } from '../pipeline/file/reasons.ts';
import type { FeedBatch, PublishStore, RetentionStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import type { FileTable } from './schema.ts';

/** States of files on their way to being ready. */
const underWay = ['queued', 'awaiting upload', 'processing'] as const;

/**
 * Columns read from rows that wait for feeds. Only these, because the publisher asks every second and thousands of rows
 * may be waiting.
 */
const readyColumns = ['id', 'ready_at', 'plan', 'published', 'last_failure'] as const;

type ReadyRow = Pick<Selectable<FileTable>, (typeof readyColumns)[number]>;

/** Creates the queries of the rounds that do not return files. */
export function createRounds({ db, words }: Connection): PublishStore & RetentionStore {
  const folder = sql.raw<string>(words.inside.folder);
  const whenFullOf = sql.raw<number | null>(words.inside.whenFull);
  return {
    waiting: async () => {
      const rows = db.selectFrom('file').select(readyColumns).where('state', '=', 'awaiting publish').orderBy('seq');
      return batchesOf(await rows.execute());
    },
    isExpecting: async (feed) => {
      const row = await db
        .selectFrom('file')
        .select('id')
        .where('state', 'in', underWay)
        .where(
          sql<boolean>`exists (select 1 from ${sql.raw(words.elements(words.inside.feeds))} as feed where feed.value = ${feed})`,
        )
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
    fullMarks: async (folders) => {
      const byKey = new Map(folders.map((each) => [words.key(each), each]));
      const marks = await db
        .selectFrom('file')
        .select([folder.as('key'), whenFullOf.$castTo<number>().as('whenFull')])
        .distinct()
        // The condition is literal, as in the partial index `file_crowding`.
        .where(sql<boolean>`disposal = 'later'`)
        .where(folder, 'in', [...byKey.keys()])
        .where(whenFullOf, 'is not', null)
        .execute();
      return marks.map(({ key, whenFull }) => ({ folder: byKey.get(key) ?? key, whenFull }));
    },
  };
}

/** Groups ready files by the feeds they are not in yet. */
function batchesOf(rows: readonly ReadyRow[]): readonly FeedBatch[] {
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
    return {
      feed,
      ids: ready.map(({ id }) => id),
      missing: new Map(ready.flatMap(missingOf)),
      firstReadyAt: times.at(0) ?? 0,
      lastReadyAt: times.at(-1) ?? 0,
    };
  });
}

function missingOf({ id, last_failure: failure }: ReadyRow): readonly (readonly [string, string])[] {
  const feed = failure === null ? null : missingFeed({ lastFailure: JSON.parse(failure) as Facts['lastFailure'] });
  return feed === null ? [] : [[id, feed]];
}

function unpublishedFeeds(row: ReadyRow): readonly string[] {
  const plan = row.plan === null ? null : (JSON.parse(row.plan) as Facts['plan']);
  const published = JSON.parse(row.published) as Facts['published'];
  return feedsToPublish({ plan, published });
}

import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { feedsToPublish } from '../pipeline/file/facts.ts';
import { missingFeed } from '../pipeline/file/reasons.ts';
import type { AmendStore, FeedBatch, PublishStore, PutAwayStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { isSeen } from './words.ts';
import { allFacts, factsOf, filesIn, isWaitingForDisk } from './row.ts';
import type { FileTable } from './schema.ts';

/** States in which a file is on its way to be ready. */
const underWay = ['queued', 'awaiting upload', 'processing'] as const;

/** Literal, because SQLite does not match a bound value with the condition of a partial index. */
const isToBeDisposed = sql<boolean>`disposal = 'pending'`;

/** The columns read of a row that waits for its feeds: the publisher asks every second, and thousands may wait. */
const readyColumns = ['id', 'ready_at', 'plan', 'published', 'last_failure'] as const;

type ReadyRow = Pick<Selectable<FileTable>, (typeof readyColumns)[number]>;

/** Rows to publish, to put away and to amend, which the rounds query every second. */
export function createRounds({ db, words, prepared }: Connection): PublishStore & PutAwayStore & AmendStore {
  const unindexedState = sql.raw<string>(words.unindexed('state'));
  const toDispose = prepared(
    filesIn(db).where(isToBeDisposed).where(unindexedState, '=', 'done').orderBy('seq').limit(0),
  );
  const toAmend = prepared(
    filesIn(db)
      .where('amendment', 'is not', null)
      .where('video_id', 'is not', null)
      .where('dying', '=', 0)
      .where(unindexedState, 'in', ['processing', 'awaiting publish', 'done'])
      .orderBy('seq')
      .limit(0),
  );
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
    toDispose: async (limit, seen) =>
      seen === undefined
        ? (await toDispose(limit)).map(factsOf)
        : allFacts(
            filesIn(db)
              .where(isToBeDisposed)
              .where(unindexedState, '=', 'done')
              .where(isSeen(seen))
              .orderBy('seq')
              .limit(limit),
          ),
    waitingForDisk: (limit, seen) => {
      const waiting = filesIn(db).where(isWaitingForDisk);
      const ours = seen === undefined ? waiting : waiting.where(isSeen(seen));
      return allFacts(ours.orderBy('seq', 'desc').limit(limit));
    },
    toAmend: async (limit) => (await toAmend(limit)).map(factsOf),
  };
}

/** The files that are ready, grouped by the feeds they are not in yet. */
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

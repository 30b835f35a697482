import { sql } from 'kysely';
import type { DueFeed, FeedStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { addEvent } from './event-rows.ts';
import type { FeedDueTable } from './schema.ts';
import { ask } from './work.ts';
import type { Work } from './work.ts';

/** The feeds that are to be published although no file waits for them. */
export function createFeedsDue({ db, write }: Pick<Connection, 'db' | 'write'>): FeedStore {
  return {
    feedsDue: async () =>
      (await db.selectFrom('feed_due').selectAll().orderBy('first_at').orderBy('feed').execute()).map(dueFeedOf),
    noteFeedDue: async (feed, at, isNow) => {
      // Each note has a time of its own, so that a publish that has begun does not count for one that came after.
      const row = await db
        .insertInto('feed_due')
        .values({ feed, first_at: at, last_at: at, is_now: isNow ? 1 : 0 })
        .onConflict((conflict) =>
          conflict.column('feed').doUpdateSet({
            last_at: sql`case when excluded.last_at > feed_due.last_at then excluded.last_at else feed_due.last_at + 1 end`,
            is_now: sql`case when excluded.is_now = 1 then 1 else feed_due.is_now end`,
          }),
        )
        .returningAll()
        .executeTakeFirstOrThrow();
      return dueFeedOf(row);
    },
    noteFeedAnswer: ({ feed, lastAt }, event) =>
      write(function* (): Work<void> {
        if (lastAt !== null) yield* ask('DELETE FROM feed_due WHERE feed = ? AND last_at <= ?', [feed, lastAt]);
        yield* addEvent(event);
      }),
  };
}

function dueFeedOf({ feed, first_at: firstAt, last_at: lastAt, is_now: isNow }: FeedDueTable): DueFeed {
  return { feed, firstAt, lastAt, isNow: isNow === 1 };
}

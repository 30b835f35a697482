import { sql } from 'kysely';
import type { HostedVideo } from '../pipeline/file/failure.ts';
import type { AdoptionStore, Listing } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { allFacts, factsOf, filesIn } from './row.ts';
import { ask } from './work.ts';
import type { Work } from './work.ts';
import type { SqlWords } from './words.ts';

/** Files that existed before the first start, and the service's list of videos. */
export function createAdoption({ db, words, prepared, write }: Connection): AdoptionStore {
  // Literal as in the partial index `file_existing`: SQLite does not match bound values with its condition.
  const isLeftFromBefore = sql<boolean>`"end" = 'held' and ${sql.raw(words.inside.code)} = 'existing'`;
  const likeness = sql.raw<string | null>(words.inside.likeness);
  const isNotCompared = sql<boolean>`${likeness} is null`;
  const toAdopt = () => filesIn(db).where(isLeftFromBefore).orderBy('seq');
  const toCompare = prepared(toAdopt().where(isNotCompared).limit(0));
  return {
    toCompare: async (limit) => (await toCompare(limit)).map(factsOf),
    toAdopt: () => allFacts(toAdopt()),
    countToAdopt: () =>
      db
        .selectFrom('file')
        .select((eb) => [eb.fn.countAll<number>().as('files'), eb.fn.count<number>(likeness).as('compared')])
        .where(isLeftFromBefore)
        .executeTakeFirstOrThrow(),
    listing: async () => {
      const row = await db.selectFrom('listing').selectAll().executeTakeFirst();
      return row === undefined ? null : { nextPage: row.next_page, total: row.total, isWhole: row.is_whole === 1 };
    },
    addListed: (videos, listing) => write(() => addListed(words, videos, listing)),
    listed: () =>
      db
        .selectFrom('listed_video')
        .selectAll()
        .where(sql<boolean>`not exists (select 1 from file where file.video_id = listed_video.id)`)
        .execute(),
    forgetListing: () =>
      write(function* (): Work<void> {
        yield* ask('DELETE FROM listing');
        yield* ask('DELETE FROM listed_video');
      }),
  };
}

function* addListed(
  words: SqlWords,
  videos: readonly HostedVideo[],
  { nextPage, total, isWhole }: Listing,
): Work<void> {
  yield* ask(
    `INSERT INTO listing (id, next_page, total, is_whole) VALUES (1, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET next_page = excluded.next_page, total = excluded.total, is_whole = excluded.is_whole`,
    [nextPage, total, isWhole ? 1 : 0],
  );
  for (const { id, title, duration, status } of videos)
    yield* ask(
      `INSERT INTO listed_video (id, title, duration, status) VALUES (?, ?, ?, ?)
        ON CONFLICT (${words.unique('id')}) DO UPDATE SET title = excluded.title, duration = excluded.duration, status = excluded.status`,
      [id, title, duration, status],
    );
}

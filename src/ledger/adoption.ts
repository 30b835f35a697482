import { sql } from 'kysely';
import type { HostedVideo } from '../pipeline/file/failure.ts';
import type { AdoptionStore, Listing } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { ask } from './work.ts';
import type { Work } from './work.ts';
import type { SqlWords } from './words.ts';

/** Stores the service's video list, for matching files that existed before the first start. */
export function createAdoption({ db, words, write }: Connection): AdoptionStore {
  return {
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

import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { suspectsOf } from '../pipeline/file/facts.ts';
import type { CreatedStore, LeftoverStore, AdoptionStore, Listing } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import type { Work } from './work.ts';
import { allFacts, filesIn } from './row.ts';
import type { LedgerTables } from './schema.ts';
import { ask } from './work.ts';
import type { HostedVideo } from '../pipeline/file/failure.ts';
import type { SqlWords } from './words.ts';

/** Tracks every record that dropcast may have left on the service without bytes, and counts those it created. */
export function createLeftovers({ db, words, prepared }: Connection): LeftoverStore & CreatedStore {
  const requests = prepared(
    db.selectFrom('create_request').select(['token', 'file_id', 'title', 'at']).orderBy('at').orderBy('token'),
  );
  return {
    unanswered: async () =>
      (await requests()).map(({ token, file_id: fileId, title, at }) => ({ token, fileId, title, at })),
    createdSince: async (since) => {
      // A file that ended before `since` was also created before it; the condition only makes an index usable.
      const { rows } = await sql<{ videos: number; bytes: number }>`
        select count(*) as videos, cast(coalesce(sum(case when source_url is null then size else 0 end), 0) as bigint) as bytes
        from file
        where created_at >= ${since} and (ended_at is null or ended_at >= ${since})`.execute(db);
      const deleted = await db
        .selectFrom('deletion')
        .select(db.fn.countAll<number>().as('n'))
        .where('at', '>=', since)
        .executeTakeFirst();
      const { videos = 0, bytes = 0 } = rows[0] ?? {};
      // The service may count records that were replaced since.
      return { videos: videos + (deleted?.n ?? 0), bytes };
    },
    noteDeletion: async (videoId, at) => {
      const row = { video_id: videoId, at };
      await db
        .insertInto('deletion')
        .values(row)
        .onConflict((conflict) => conflict.expression(sql.raw(words.unique('video_id'))).doUpdateSet(row))
        .execute();
    },
    deletionsSince: async (after, now) => {
      const n = db.fn.countAll<number>().as('n');
      const lately = db.selectFrom('deletion').select(n).where('at', '>', after).where('at', '<=', now);
      const row = await lately.executeTakeFirst();
      return row?.n ?? 0;
    },
  };
}

/**
 * Records the title and time of each unanswered create request together with the row: one line for each token.
 *
 * @param before the previous row; null for a new file
 */
export function* noteRequests(before: Pick<Facts, 'intent' | 'suspects'> | null, after: Facts): Work<void> {
  const [had, has] = [new Set(before === null ? [] : suspectsOf(before)), new Set(suspectsOf(after))];
  for (const token of had.difference(has)) yield* ask('DELETE FROM create_request WHERE token = ?', [token]);
  for (const token of has.difference(had)) {
    const { file_id: id, title, at } = requestOf(token, after, Date.now());
    yield* ask('INSERT INTO create_request (token, file_id, title, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING', [
      token,
      id,
      title,
      at,
    ]);
  }
}

/**
 * Makes the create request table match the rows, because a restored row may have other tokens. A line added here gets
 * its file's arrival time, because the time of the request is unknown.
 */
export async function settleRequests(db: Kysely<LedgerTables>): Promise<void> {
  const rows = await allFacts(filesIn(db).where(sql<boolean>`intent is not null or suspects != '[]'`));
  const wanted = new Map(rows.flatMap((facts) => suspectsOf(facts).map((token) => [token, facts] as const)));
  const lines = await db.selectFrom('create_request').select('token').execute();
  const has = new Set(lines.map(({ token }) => token));
  const stray = [...has].filter((token) => !wanted.has(token));
  if (stray.length > 0) await db.deleteFrom('create_request').where('token', 'in', stray).execute();
  for (const [token, facts] of wanted) {
    if (!has.has(token))
      await db
        .insertInto('create_request')
        .values(requestOf(token, facts, facts.discoveredAt))
        .execute();
  }
}

function requestOf(token: string, facts: Facts, at: number): LedgerTables['create_request'] {
  return { token, file_id: facts.id, title: facts.plan?.title ?? facts.path, at };
}

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

import { sql } from 'kysely';
import type { AdoptionStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { preparedQuery } from './prepared-query.ts';
import { allFacts, factsOf, filesIn } from './row.ts';
import { inside } from './schema.ts';

/** As in the small partial index `file_existing`: SQLite does not see its condition in a bound value. */
const isLeftFromBefore = sql<boolean>`"end" = 'held' and ${sql.raw(inside.code)} = 'existing'`;
const likeness = sql.raw<string | null>(inside.likeness);
const isNotCompared = sql<boolean>`${likeness} is null`;

/** Files that were there before, and what the service has. */
export function createAdoption({ db, sql: statements }: Connection): AdoptionStore {
  const toAdopt = () => filesIn(db).where(isLeftFromBefore).orderBy('seq');
  const toCompare = preparedQuery(statements, toAdopt().where(isNotCompared).limit(0));
  return {
    toCompare: async (limit) => toCompare(limit).map(factsOf),
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
    addListed: (videos, { nextPage, total, isWhole }) =>
      db.transaction().execute(async (trx) => {
        const values = { next_page: nextPage, total, is_whole: isWhole ? 1 : 0 };
        await trx
          .insertInto('listing')
          .values({ id: 1, ...values })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
          .execute();
        if (videos.length === 0) return;
        await trx
          .replaceInto('listed_video')
          .values(videos.map(({ id, title, duration, status }) => ({ id, title, duration, status })))
          .execute();
      }),
    listed: () =>
      db
        .selectFrom('listed_video')
        .selectAll()
        .where(sql<boolean>`not exists (select 1 from file where file.video_id = listed_video.id)`)
        .execute(),
    forgetListing: () =>
      db.transaction().execute(async (trx) => {
        await trx.deleteFrom('listing').execute();
        await trx.deleteFrom('listed_video').execute();
      }),
  };
}

import { sql } from 'kysely';
import type { FileStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { allFacts, factsOf, filesIn, firstFacts } from './row.ts';
import { createTwins } from './twins.ts';
import { saveFacts } from './write-row.ts';

/** The rows as the steps of a file need them. */
export function createFiles({ db, words, prepared, write }: Connection): FileStore {
  const withId = prepared(filesIn(db).where('id', '=', ''));
  const retrying = prepared(
    filesIn(db)
      .where(sql.raw<string>(words.unindexed('state')), '=', 'retrying')
      .where('not_before', '<=', 0)
      .orderBy('not_before')
      .orderBy('seq')
      .limit(0),
  );
  return {
    load: async (id) => firstFacts(await withId(id)),
    save: (facts, note) => write(() => saveFacts(words, facts, note), facts.id),
    due: async (state, now, limit) =>
      state === 'retrying'
        ? (await retrying(now, limit)).map(factsOf)
        : allFacts(
            filesIn(db)
              .where(sql<boolean>`${sql.raw(words.isIn('state', `'${state}'`))}`)
              .orderBy('state')
              .orderBy('seq')
              .limit(limit),
          ),
    count: async (...states) => {
      const row = await db
        .selectFrom('file')
        .select(db.fn.countAll<number>().as('n'))
        .where('state', 'in', [...states])
        .executeTakeFirst();
      return row?.n ?? 0;
    },
    ...createTwins({ db, words }),
  };
}

import type { FileStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import type { GroupCommit } from './group-commit.ts';
import { preparedQuery } from './prepared-query.ts';
import { allFacts, factsOf, filesIn, firstFacts, unindexedState } from './row.ts';
import { createTwins } from './twins.ts';
import { saveFacts } from './write-row.ts';

/** The rows as the steps of a file need them. */
export function createFiles({ db, sql }: Connection, commits: GroupCommit): FileStore {
  const withId = preparedQuery(sql, filesIn(db).where('id', '=', ''));
  const retrying = preparedQuery(
    sql,
    filesIn(db).where(unindexedState, '=', 'retrying').where('not_before', '<=', 0).orderBy('not_before').limit(0),
  );
  return {
    load: async (id) => firstFacts(withId(id)),
    save: (facts, note) => commits.write((sql) => saveFacts(sql, facts, note)),
    due: async (state, now, limit) =>
      state === 'retrying'
        ? retrying(now, limit).map(factsOf)
        : allFacts(filesIn(db).where('state', '=', state).orderBy('seq').limit(limit)),
    count: async (...states) => {
      const row = await db
        .selectFrom('file')
        .select(db.fn.countAll<number>().as('n'))
        .where('state', 'in', [...states])
        .executeTakeFirst();
      return row?.n ?? 0;
    },
    ...createTwins(db),
  };
}

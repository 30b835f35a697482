import type { Kysely } from 'kysely';
import type { FileStore } from '../pipeline/file/ports.ts';
import type { GroupCommit } from './group-commit.ts';
import { allFacts, filesIn, newestFacts, unindexedState } from './row.ts';
import type { LedgerTables } from './schema.ts';
import { createTwins } from './twins.ts';
import { saveFacts } from './write-row.ts';

/** The rows as the steps of a file need them. */
export function createFiles(db: Kysely<LedgerTables>, commits: GroupCommit): FileStore {
  return {
    load: (id) => newestFacts(filesIn(db).where('id', '=', id)),
    save: (facts, note) => commits.write((sql) => saveFacts(sql, facts, note)),
    due: (state, now, limit) =>
      allFacts(
        state === 'retrying'
          ? filesIn(db)
              .where(unindexedState, '=', state)
              .where('not_before', '<=', now)
              .orderBy('not_before')
              .limit(limit)
          : filesIn(db).where('state', '=', state).orderBy('seq').limit(limit),
      ),
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

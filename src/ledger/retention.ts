import { sql } from 'kysely';
import type { RetentionStore } from '../pipeline/file/ports.ts';
import { allFacts, filesIn } from './row.ts';
import type { Connection } from './connection.ts';

/** Literal as in the partial indexes `file_later` and `file_crowding`: SQLite does not match a bound value with it. */
const isKeptForNow = sql<boolean>`disposal = 'later'`;

export interface Deletions {
  readonly files: number;
  /** When the next is due (epoch milliseconds); null when only a full disk makes any of them go. */
  readonly nextAt: number | null;
}

/** The rows of finished files whose local file is to be deleted later. */
export function createRetentionRows({
  db,
  words,
}: Connection): Omit<RetentionStore, 'toDispose'> & { deletions(): Promise<Deletions> } {
  // The expressions that the two indexes are on.
  const dueAt = sql.raw<number | null>(words.inside.dueAt);
  const whenFullOf = sql.raw<number | null>(words.inside.whenFull);
  const folder = sql.raw<string>(words.inside.folder);
  // The index on the folder would read and sort all of its files.
  const unindexedFolder = sql.raw<string>(words.unindexed('folder'));
  return {
    expired: (now, folders, limit) =>
      allFacts(
        filesIn(db)
          .where(isKeptForNow)
          .where(dueAt, '<=', now)
          .where(unindexedFolder, 'in', folders)
          .orderBy(dueAt)
          .orderBy('seq')
          .limit(limit),
      ),
    fullMarks: async (folders) => {
      const byKey = new Map(folders.map((each) => [words.key(each), each]));
      const marks = await db
        .selectFrom('file')
        .select([folder.as('key'), whenFullOf.$castTo<number>().as('whenFull')])
        .distinct()
        .where(isKeptForNow)
        .where(folder, 'in', [...byKey.keys()])
        .where(whenFullOf, 'is not', null)
        .execute();
      return marks.map(({ key, whenFull }) => ({ folder: byKey.get(key) ?? key, whenFull }));
    },
    oldestKept: (mark, limit, without = 0) =>
      allFacts(
        filesIn(db)
          .where(isKeptForNow)
          .where(folder, '=', words.key(mark.folder))
          .where(whenFullOf, '=', mark.whenFull)
          .orderBy('ended_at')
          .orderBy('seq')
          .limit(limit)
          .offset(without),
      ),
    deletions: () =>
      db
        .selectFrom('file')
        .select((eb) => [eb.fn.countAll<number>().as('files'), eb.fn.min<number | null>(dueAt).as('nextAt')])
        .where(isKeptForNow)
        .executeTakeFirstOrThrow(),
  };
}

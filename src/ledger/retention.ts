import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { RetentionStore } from '../pipeline/file/ports.ts';
import { allFacts, filesIn } from './row.ts';
import { inside } from './schema.ts';
import type { LedgerTables } from './schema.ts';

/** The condition of `file_later` and `file_crowding`: SQLite does not see it in a bound value. */
const isKeptForNow = sql<boolean>`disposal = 'later'`;

/** The expressions that these two indexes are on. */
const dueAt = sql.raw<number | null>(inside.dueAt);
const whenFullOf = sql.raw<number | null>(inside.whenFull);

/** Behind a `+`, which keeps SQLite off the index that begins with the folder: it would read and sort all files of it. */
const unindexedFolder = sql<string>`+folder`;

export interface Deletions {
  readonly files: number;
  /** When the next is due (epoch milliseconds); null when only a full disk makes any of them go. */
  readonly nextAt: number | null;
}

/** The rows of finished files whose local file is to be deleted later. */
export function createRetentionRows(
  db: Kysely<LedgerTables>,
): Omit<RetentionStore, 'toDispose'> & { deletions(): Promise<Deletions> } {
  return {
    expired: (now, folders, limit) =>
      allFacts(
        filesIn(db)
          .where(isKeptForNow)
          .where(dueAt, '<=', now)
          .where(unindexedFolder, 'in', folders)
          .orderBy(dueAt)
          .limit(limit),
      ),
    fullMarks: (folders) =>
      db
        .selectFrom('file')
        .select(['folder', whenFullOf.$castTo<number>().as('whenFull')])
        .distinct()
        .where(isKeptForNow)
        .where('folder', 'in', folders)
        .where(whenFullOf, 'is not', null)
        .execute(),
    oldestKept: ({ folder, whenFull }, limit, without = 0) =>
      allFacts(
        filesIn(db)
          .where(isKeptForNow)
          .where('folder', '=', folder)
          .where(whenFullOf, '=', whenFull)
          .orderBy('ended_at')
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

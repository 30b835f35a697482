import { sql } from 'kysely';
import type { PauseStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';

/** The pauses that people set. The primary key of SQLite takes no null: everything is the folder ''. */
export function createPauseRows({ db, words }: Pick<Connection, 'db' | 'words'>): PauseStore {
  return {
    pauses: async () => {
      const rows = await db.selectFrom('pause').selectAll().orderBy('since').orderBy('folder').execute();
      return rows.map(({ folder, ...pause }) => ({ ...pause, folder: folder === '' ? null : folder }));
    },
    savePause: async ({ folder, ...pause }) => {
      await db
        .insertInto('pause')
        .values({ ...pause, folder: folder ?? '' })
        .onConflict((conflict) => conflict.expression(sql.raw(words.unique('folder'))).doUpdateSet(pause))
        .execute();
    },
    dropPause: async (folder) => {
      await db
        .deleteFrom('pause')
        .where('folder', '=', folder ?? '')
        .execute();
    },
    countUnfinished: async (paused) => {
      const row = await db
        .selectFrom('file')
        .select(db.fn.countAll<number>().as('n'))
        .where('state', 'in', ['queued', 'awaiting upload', 'processing', 'awaiting publish', 'retrying'])
        .where((eb) =>
          eb.not(
            eb.and([eb('state', 'in', ['queued', 'awaiting upload', 'retrying']), eb('folder', 'in', [...paused])]),
          ),
        )
        .executeTakeFirst();
      return row?.n ?? 0;
    },
  };
}

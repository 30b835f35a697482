import type { PauseStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { addEvent } from './event-rows.ts';
import { ask } from './work.ts';
import type { Work } from './work.ts';

/** The pauses that people set. The primary key of SQLite takes no null: everything is the folder ''. */
export function createPauseRows({ db, words, write }: Pick<Connection, 'db' | 'words' | 'write'>): PauseStore {
  return {
    pauses: async () => {
      const rows = await db.selectFrom('pause').selectAll().orderBy('since').orderBy('folder').execute();
      return rows.map(({ folder, ...pause }) => ({ ...pause, folder: folder === '' ? null : folder }));
    },
    savePause: ({ folder, since, until, by }, event) =>
      write(function* (): Work<void> {
        const text = `INSERT INTO pause (folder, since, until, "by") VALUES (?, ?, ?, ?) ON CONFLICT (${words.unique('folder')})
          DO UPDATE SET since = excluded.since, until = excluded.until, "by" = excluded."by"`;
        yield* ask(text, [folder ?? '', since, until, by]);
        yield* addEvent(event);
      }),
    dropPause: (folder, event) =>
      write(function* (): Work<void> {
        yield* ask('DELETE FROM pause WHERE folder = ?', [folder ?? '']);
        yield* addEvent(event);
      }),
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

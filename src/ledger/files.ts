import type { FileStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { filesIn, firstFacts } from './row.ts';
import { saveFacts } from './write-row.ts';

/** Creates the store of file rows that pipeline steps read and write. */
export function createFiles({ db, words, prepared, write }: Connection): FileStore {
  const withId = prepared(filesIn(db).where('id', '=', ''));
  return {
    load: async (id) => firstFacts(await withId(id)),
    save: (facts, note) => write(() => saveFacts(words, facts, note), facts.id),
    count: async (states, paused = []) => {
      const inStates = db.selectFrom('file').select(db.fn.countAll<number>().as('n')).where('state', 'in', states);
      const wanted =
        paused.length === 0
          ? inStates
          : inStates.where((eb) =>
              eb.not(
                eb.and([eb('state', 'in', ['queued', 'awaiting upload', 'retrying']), eb('folder', 'in', paused)]),
              ),
            );
      const row = await wanted.executeTakeFirst();
      return row?.n ?? 0;
    },
  };
}

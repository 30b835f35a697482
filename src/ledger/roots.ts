import { sql } from 'kysely';
import { readRecord } from './json-record.ts';
import type { Connection } from './connection.ts';

/** Of files that are still needed where they lie: all that may yet be sent, also after a `retry`. */
const neededStates = "('queued', 'awaiting upload', 'retrying', 'failed', 'held')";

type Expected = 'all' | 'unfinished' | 'also given up';

const conditions: Readonly<Record<Expected, string>> = {
  all: "and state <> 'vanished'",
  unfinished: `and uploaded_at is null and state in ${neededStates}`,
  'also given up': '',
};

/** What the watcher remembers of each folder itself, and what it asks about its files. */
export interface RootRows {
  /** @returns null when nothing was saved yet, or it is damaged: then only the known files tell which directory the folder is */
  load(folder: string): Promise<unknown>;
  save(folder: string, record: unknown): Promise<void>;
  /**
   * See `RootStore.expected`.
   *
   * @param inHand ids of the rows that this process works on: of these, a file that is to be put away is being moved or deleted right now
   */
  expected(folder: string, paths: readonly string[], which: Expected, inHand?: readonly string[]): Promise<number>;
}

export function createRoots({ db, words }: Pick<Connection, 'db' | 'words'>): RootRows {
  const { inside } = words;
  return {
    load: async (folder) => {
      const row = await db.selectFrom('root').select('record').where('folder', '=', folder).executeTakeFirst();
      return row === undefined ? null : readRecord(row.record);
    },
    save: async (folder, record) => {
      const text = JSON.stringify(record);
      await db
        .insertInto('root')
        .values({ folder, record: text })
        .onConflict((conflict) => conflict.expression(sql.raw(words.unique('folder'))).doUpdateSet({ record: text }))
        .execute();
    },
    expected: async (folder, paths, which, inHand = []) => {
      const { rows } = await sql<{ n: number }>`
        select count(distinct path) as n from file
        where ${sql.raw(inside.folder)} = ${words.key(folder)} and ${sql.raw(inside.path)} in ${words.texts(paths.map(words.key))}
          and state <> 'superseded' and disposal is distinct from 'deleted'
          and not (coalesce(disposal, '') in ('pending', 'waiting') and id in ${words.texts(inHand)})
          ${sql.raw(conditions[which])}`.execute(db);
      return rows[0]?.n ?? 0;
    },
  };
}

import { sql } from 'kysely';
import type { DueFeed, FeedStore, FirstStartStore, NoteStore, PauseStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import type { Work } from './work.ts';
import { remember } from './news-rows.ts';
import { addEvent } from './history.ts';
import type { FeedDueTable } from './schema.ts';
import { ask, readRecord } from './work.ts';

/** The last hour's requests, stored by the budget as one JSON value. */
export interface BudgetRow {
  /** @returns null if nothing was saved yet or the record is damaged; a 429 then shows that the hour is used up */
  load(): Promise<unknown>;
  save(spent: unknown): Promise<void>;
}

export function createBudgetRow({ db, write }: Connection): BudgetRow {
  return {
    load: async () => {
      const row = await db.selectFrom('budget').select('spent').executeTakeFirst();
      return row === undefined ? null : readRecord(row.spent);
    },
    save: async (spent) => {
      const text = 'INSERT INTO budget (id, spent) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET spent = excluded.spent';
      const record = JSON.stringify(spent);
      await write(() => ask(text, [record]));
    },
  };
}

/** The ledger's counter, for the marks in watched folders. */
export interface CounterRow {
  load(): Promise<number>;
  /**
   * Increases the counter. @returns the new value, greater than the old one and `atLeast`; on disk when the promise
   * resolves
   */
  advance(atLeast: number): Promise<number>;
}

export function createCounterRow({ db, write }: Connection): CounterRow {
  return {
    load: async () => (await db.selectFrom('identity').select('counter').executeTakeFirstOrThrow()).counter,
    advance: (atLeast) =>
      write(function* () {
        const text =
          'UPDATE identity SET counter = CASE WHEN counter > ? THEN counter ELSE ? END + 1 WHERE id = 1 RETURNING counter';
        const [row] = yield* ask(text, [atLeast, atLeast]);
        return Number(row?.['counter']);
      }),
  };
}

/** States of files that must stay in place because they may still be sent, possibly after a `retry`. */
const neededStates = "('queued', 'awaiting upload', 'retrying', 'failed', 'held')";

type Expected = 'all' | 'unfinished' | 'also given up';

const expectedFiles: Readonly<Record<Expected, string>> = {
  all: "and state <> 'vanished'",
  unfinished: `and uploaded_at is null and state in ${neededStates}`,
  'also given up': '',
};

/** The watcher's record for each folder, and a query for the files expected in a folder. */
export interface RootRows {
  /** @returns null if nothing was saved yet or the record is damaged; then only known files identify the directory */
  load(folder: string): Promise<unknown>;
  save(folder: string, record: unknown): Promise<void>;
  /**
   * See `RootStore.expected`.
   *
   * @param inHand ids of rows that a worker holds; their files are not expected while being moved or deleted
   */
  expected(folder: string, paths: readonly string[], which: Expected, inHand?: readonly string[]): Promise<number>;
}

export function createRoots({ db, words }: Connection): RootRows {
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
          ${sql.raw(expectedFiles[which])}`.execute(db);
      return rows[0]?.n ?? 0;
    },
  };
}

/** Stores the progress of each folder's first start. */
export function createFirstStarts({ db, words }: Connection): FirstStartStore {
  return {
    firstStart: async (folder) => {
      const row = await db.selectFrom('first_start').selectAll().where('folder', '=', folder).executeTakeFirst();
      if (row === undefined) return null;
      const beganNs = row.began_ns === null ? null : BigInt(row.began_ns);
      return {
        askedNs: BigInt(row.asked_ns),
        beganNs,
        isOver: row.is_over === 1,
        ...(row.is_adopted === 1 && { isAdopted: true }),
      };
    },
    saveFirstStart: async (folder, { askedNs, beganNs, isOver, isAdopted = false }) => {
      const values = {
        asked_ns: String(askedNs),
        began_ns: beganNs === null ? null : String(beganNs),
        is_over: isOver ? 1 : 0,
        is_adopted: isAdopted ? 1 : 0,
      };
      await db
        .insertInto('first_start')
        .values({ folder, ...values })
        .onConflict((conflict) => conflict.expression(sql.raw(words.unique('folder'))).doUpdateSet(values))
        .execute();
    },
  };
}

/**
 * Stores the pauses that people set. SQLite's primary key allows no null, so a pause of everything has the folder ''.
 */
export function createPauseRows({ db, words, write }: Connection): PauseStore {
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
  };
}

/** Stores notes in the table of the notifications' memory, under names of their own. */
export function createNotes({ db, write }: Connection): NoteStore {
  return {
    note: async (name) => {
      const row = await db.selectFrom('news_memory').select('record').where('name', '=', name).executeTakeFirst();
      return row === undefined ? null : readRecord(row.record);
    },
    saveNote: (name, record, events = []) =>
      write(function* (): Work<void> {
        yield* remember(name, record);
        for (const event of events) yield* addEvent(event);
      }),
  };
}

/** Stores feeds to publish even though no file is waiting for them. */
export function createFeedsDue({ db, write }: Connection): FeedStore {
  return {
    feedsDue: async () =>
      (await db.selectFrom('feed_due').selectAll().orderBy('first_at').orderBy('feed').execute()).map(dueFeedOf),
    noteFeedDue: async (feed, at, isNow) => {
      // Each note gets its own time, so that a publish that has already begun does not cover a later note.
      const row = await db
        .insertInto('feed_due')
        .values({ feed, first_at: at, last_at: at, is_now: isNow ? 1 : 0 })
        .onConflict((conflict) =>
          conflict.column('feed').doUpdateSet({
            last_at: sql`case when excluded.last_at > feed_due.last_at then excluded.last_at else feed_due.last_at + 1 end`,
            is_now: sql`case when excluded.is_now = 1 then 1 else feed_due.is_now end`,
          }),
        )
        .returningAll()
        .executeTakeFirstOrThrow();
      return dueFeedOf(row);
    },
    noteFeedAnswer: ({ feed, lastAt }, event) =>
      write(function* (): Work<void> {
        if (lastAt !== null) yield* ask('DELETE FROM feed_due WHERE feed = ? AND last_at <= ?', [feed, lastAt]);
        yield* addEvent(event);
      }),
  };
}

function dueFeedOf({ feed, first_at: firstAt, last_at: lastAt, is_now: isNow }: FeedDueTable): DueFeed {
  return { feed, firstAt, lastAt, isNow: isNow === 1 };
}

/** Files that count for an expectation even if their path no longer matches it. */
export interface ExpectedRows {
  /** Counts a file for an expectation permanently. */
  countFile(expectation: string, id: string, at: number): Promise<void>;
  /** Returns the ids of files counted for an expectation since a time. */
  countedFiles(expectation: string, since: number): Promise<readonly string[]>;
  /**
   * Deletes entries that are too old by both the clock and the newest entry, so setting the clock forward deletes
   * nothing.
   */
  forgetCounted(now: number, olderThanMs: number): Promise<void>;
}

export function createExpectedRows({ db, write }: Connection): ExpectedRows {
  return {
    countFile: async (expectation, id, at) => {
      const text = 'INSERT INTO expected_file (expectation, file_id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';
      await write(() => ask(text, [expectation, id, at]));
    },
    countedFiles: async (expectation, since) => {
      const rows = db.selectFrom('expected_file').select('file_id').where('expectation', '=', expectation);
      return (await rows.where('at', '>=', since).execute()).map(({ file_id: id }) => id);
    },
    forgetCounted: async (now, olderThanMs) => {
      const text = 'DELETE FROM expected_file WHERE at < ? AND at < (SELECT max(at) FROM expected_file) - ?';
      await write(() => ask(text, [now - olderThanMs, olderThanMs]));
    },
  };
}

import { sql } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Connection } from './connection.ts';
import { createEventRows } from './event-rows.ts';
import type { EventRows } from './event-rows.ts';
import { ask, readRecord } from './work.ts';
import type { Work } from './work.ts';
import type { SqlWords } from './words.ts';
import { allFacts, filesIn } from './row.ts';

/** A message that a target has not taken yet. Times are epoch milliseconds. */
export interface OutboxRow {
  readonly seq: number;
  readonly message: unknown;
  readonly at: number;
  /** When it was sent without an answer: it may have arrived. Null: it was not sent. */
  readonly triedAt: number | null;
  /** How often the target refused it. */
  readonly refusals: number;
}

/** Memory and messages that become durable in one transaction. */
export interface NewsCommit {
  /** By name; null forgets it. */
  readonly remember?: Readonly<Record<string, unknown>>;
  readonly post?: readonly { readonly target: string; readonly message: unknown; readonly at: number }[];
  /** Messages that arrived, or are given up. */
  readonly remove?: readonly number[];
}

/** A line of the history of any file. */
export interface Passage {
  readonly seq: number;
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly state: string;
  /** What its history says about it. */
  readonly note: string | null;
}

/** Files that arrived and went live in a period. */
export interface DayTotals {
  readonly came: number;
  readonly live: number;
  readonly bytes: number;
}

/** The outbox and the memory of notifications, and what happened since they last looked. */
export interface NewsRows extends EventRows {
  /** @returns null when nothing was remembered under the name, or it is damaged */
  recall(name: string): Promise<unknown>;
  commit(commit: NewsCommit): Promise<void>;
  /** Messages of a target, oldest first. */
  waiting(target: string, limit: number): Promise<readonly OutboxRow[]>;
  /** How many messages wait, by target. */
  countWaiting(): Promise<ReadonlyMap<string, number>>;
  /** Notes that messages were sent; after a crash it is unknown whether they arrived. @param at null: they did not arrive */
  markTried(seqs: readonly number[], at: number | null): Promise<void>;
  markRefused(seqs: readonly number[]): Promise<void>;
  /**
   * Removes the oldest messages of a target, all but some, and those from before a time.
   *
   * @param keep.countIn the name under which it is remembered how many they are, together with those from before
   * @returns how many
   */
  trim(
    target: string,
    keep: { readonly newest: number; readonly since: number; readonly countIn?: string },
  ): Promise<number>;
  /** Number of the newest line of all histories; 0 when there is none. */
  lastPassage(): Promise<number>;
  /**
   * Lines after that number in which a file got into one of these states, oldest first.
   *
   * @param within.since epoch milliseconds @param within.until the last number to look at
   */
  passages(
    after: number,
    states: readonly string[],
    limit: number,
    within?: { readonly since: number; readonly until: number },
  ): Promise<readonly Passage[]>;
  /** The last of these states that each file had, up to a line of the history, and the number of that line. */
  lastStates(
    ids: readonly string[],
    states: readonly string[],
    until: number,
  ): Promise<ReadonlyMap<string, Pick<Passage, 'seq' | 'state'>>>;
  filesById(ids: readonly string[]): Promise<readonly Facts[]>;
  totals(since: number, until: number): Promise<DayTotals>;
  /** Files of a folder that came in since then. */
  cameIn(folder: string, since: number): Promise<readonly Facts[]>;
  /** Counts a file for an expectation permanently. */
  countFile(expectation: string, id: string, at: number): Promise<void>;
  /** Ids of those that were counted for it since then. */
  countedFiles(expectation: string, since: number): Promise<readonly string[]>;
  /** Deletes entries that are older than that by the clock and by the newest entry: setting the clock forward ages nothing. */
  forgetCounted(now: number, olderThanMs: number): Promise<void>;
}

export function createNewsRows(connection: Connection): NewsRows {
  const { db, words, write } = connection;
  const forSeqs = async (text: string, seqs: readonly number[], ...values: (number | null)[]): Promise<void> => {
    await write(() => ask(`${text} WHERE seq IN ${words.numberList}`, [...values, JSON.stringify(seqs)]));
  };
  return {
    ...createEventRows(connection),
    recall: async (name) => {
      const row = await db.selectFrom('news_memory').select('record').where('name', '=', name).executeTakeFirst();
      return row === undefined ? null : readRecord(row.record);
    },
    commit: (commit) => write(() => doCommit(words, commit)),
    waiting: async (target, limit) => {
      const rows = await db
        .selectFrom('outbox')
        .selectAll()
        .where('target', '=', target)
        .orderBy('seq')
        .limit(limit)
        .execute();
      return rows.map(({ seq, message, at, tried_at: triedAt, refusals }) => ({
        seq,
        message: readRecord(message),
        at,
        triedAt,
        refusals,
      }));
    },
    countWaiting: async () => {
      const n = db.fn.countAll<number>().as('n');
      const rows = await db.selectFrom('outbox').select(['target', n]).groupBy('target').execute();
      return new Map(rows.map(({ target, n }) => [target, n]));
    },
    markTried: (seqs, at) => forSeqs('UPDATE outbox SET tried_at = ?', seqs, at),
    markRefused: (seqs) => forSeqs('UPDATE outbox SET tried_at = NULL, refusals = refusals + 1', seqs),
    trim: (target, { newest, since, countIn }) =>
      write(function* (): Work<number> {
        const old = `target = ? AND (at < ? OR seq NOT IN (SELECT seq FROM outbox WHERE target = ? ORDER BY seq DESC LIMIT ?))`;
        const values = [target, since, target, newest];
        const [row] = yield* ask(`SELECT count(*) AS n FROM outbox WHERE ${old}`, values);
        const n = Number(row?.['n'] ?? 0);
        if (n === 0) return 0;
        yield* ask(`DELETE FROM outbox WHERE ${old}`, values);
        if (countIn !== undefined) {
          const [before] = yield* ask(`SELECT record FROM news_memory WHERE name = ?${words.forWrite}`, [countIn]);
          const known = before === undefined ? 0 : Number(readRecord(String(before['record'])) ?? 0);
          yield* remember(countIn, known + n);
        }
        return n;
      }),
    lastPassage: async () => {
      const row = await db.selectFrom('history').select('seq').orderBy('seq', 'desc').limit(1).executeTakeFirst();
      return row?.seq ?? 0;
    },
    passages: async (after, states, limit, within) =>
      db
        .selectFrom('history')
        .select(['seq', 'file_id as id', 'at', 'state', 'note'])
        .where('seq', '>', after)
        .where('state', 'in', [...states])
        .$if(within !== undefined, (query) =>
          query.where('seq', '<=', within?.until ?? 0).where('at', '>=', within?.since ?? 0),
        )
        .orderBy('seq')
        .limit(limit)
        .execute(),
    lastStates: async (ids, states, until) => {
      const rows = await db
        .selectFrom('history')
        .select(['seq', 'file_id as id', 'state'])
        .where('seq', 'in', (eb) =>
          eb
            .selectFrom('history')
            .select(({ fn }) => fn.max('seq').as('seq'))
            .where(sql<boolean>`file_id in ${words.texts(ids)}`)
            .where('state', 'in', [...states])
            .where('seq', '<=', until)
            .groupBy('file_id'),
        )
        .execute();
      return new Map(rows.map(({ id, seq, state }) => [id, { seq, state }]));
    },
    filesById: (ids) => allFacts(filesIn(db).where(sql<boolean>`id in ${words.texts(ids)}`)),
    totals: async (since, until) => {
      const came = await sql<{ n: number }>`select count(*) as n from file
        where discovered_at >= ${since} and discovered_at < ${until} and state not in ('superseded', 'vanished')`.execute(
        db,
      );
      const live = await sql<{
        n: number;
        bytes: number;
      }>`select count(*) as n, coalesce(sum(size), 0) as bytes from file
        where ended_at >= ${since} and ended_at < ${until} and state = 'done'`.execute(db);
      return { came: came.rows[0]?.n ?? 0, live: live.rows[0]?.n ?? 0, bytes: live.rows[0]?.bytes ?? 0 };
    },
    cameIn: (folder, since) =>
      allFacts(
        filesIn(db)
          .where('folder', '=', folder)
          .where('discovered_at', '>=', since)
          .orderBy('discovered_at')
          .orderBy('seq'),
      ),
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

function* doCommit(words: SqlWords, { remember: records = {}, post = [], remove = [] }: NewsCommit): Work<void> {
  for (const [name, record] of Object.entries(records)) {
    if (record === null) yield* ask('DELETE FROM news_memory WHERE name = ?', [name]);
    else yield* remember(name, record);
  }
  if (remove.length > 0) yield* ask(`DELETE FROM outbox WHERE seq IN ${words.numberList}`, [JSON.stringify(remove)]);
  for (const { target, message, at } of post)
    yield* ask('INSERT INTO outbox (target, message, at, refusals) VALUES (?, ?, ?, 0)', [
      target,
      JSON.stringify(message),
      at,
    ]);
}

function* remember(name: string, record: unknown): Work<void> {
  const text =
    'INSERT INTO news_memory (name, record) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET record = excluded.record';
  yield* ask(text, [name, JSON.stringify(record)]);
}

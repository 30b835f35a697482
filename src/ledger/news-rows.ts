import type { Outbox, OutboxCommit } from '@dropcast/notify';
import type { Connection } from './connection.ts';
import type { Work } from './work.ts';
import { ask, readRecord } from './work.ts';
import type { SqlWords } from './words.ts';

/** The outbox and memory of notifications. */
export type NewsRows = Outbox;

export function createNewsRows({ db, words, write }: Connection): NewsRows {
  const forSeqs = async (text: string, seqs: readonly number[], ...values: (number | null)[]): Promise<void> => {
    await write(() => ask(`${text} WHERE seq IN ${words.numberList}`, [...values, JSON.stringify(seqs)]));
  };
  return {
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
  };
}

function* doCommit(words: SqlWords, { remember: records = {}, post = [], remove = [] }: OutboxCommit): Work<void> {
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

/** Adds a record to the memory, or replaces it. */
export function* remember(name: string, record: unknown): Work<void> {
  const text =
    'INSERT INTO news_memory (name, record) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET record = excluded.record';
  yield* ask(text, [name, JSON.stringify(record)]);
}

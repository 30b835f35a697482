import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { suspectsOf } from '../pipeline/file/facts.ts';
import type { LeftoverStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { preparedQuery } from './prepared-query.ts';
import { allFacts, factsOf, filesIn } from './row.ts';
import type { LedgerTables } from './schema.ts';
import type { Statements } from './statements.ts';

/** As in the small partial index `file_empty_record`: SQLite does not see its condition in bound values. */
const hasEmptyRecord = sql<boolean>`"end" is not null and video_id is not null and uploaded_at is null`;

/** No other file has the same video. */
const isOnlyRow = sql<boolean>`not exists (
  select 1 from file other where other.video_id = file.video_id and other.id != file.id)`;

/** Every record that dropcast may have left on the service without bytes. */
export function createLeftovers({ db, sql: statements }: Connection): LeftoverStore {
  const requests = preparedQuery(
    statements,
    db.selectFrom('create_request').selectAll().orderBy('at').orderBy('token'),
  );
  return {
    unanswered: async () => requests().map(({ token, file_id: fileId, title, at }) => ({ token, fileId, title, at })),
    abandoned: (ends, limit) =>
      allFacts(
        filesIn(db)
          .where(hasEmptyRecord)
          .where(sql<boolean>`coalesce(remote_status, '') not in ('processing', 'ready', 'failed')`)
          .where(sql<boolean>`coalesce(last_failure ->> 'kind', '') != 'gone'`)
          .where(isOnlyRow)
          .where(sql<string>`+"end"`, 'in', [...ends])
          .orderBy('seq')
          .limit(limit),
      ),
    hasVideo: async (videoId) => {
      const row = await db.selectFrom('file').select('id').where('video_id', '=', videoId).executeTakeFirst();
      return row !== undefined;
    },
    noteDeletion: async (videoId, at) => {
      const row = { video_id: videoId, at };
      await db
        .insertInto('deletion')
        .values(row)
        .onConflict((conflict) => conflict.column('video_id').doUpdateSet(row))
        .execute();
    },
    deletionsSince: async (since) => {
      const n = db.fn.countAll<number>().as('n');
      const row = await db.selectFrom('deletion').select(n).where('at', '>', since).executeTakeFirst();
      return row?.n ?? 0;
    },
  };
}

/**
 * Keeps title and time of each create request that a row has no answer to, in the transaction that writes the row: there is one line
 * for each of its tokens, and none for any other.
 *
 * @param before the row as it was, or null for a new one
 */
export function noteRequests(sql: Statements, before: Pick<Facts, 'intent' | 'suspects'> | null, after: Facts): void {
  const [had, has] = [new Set(before === null ? [] : suspectsOf(before)), new Set(suspectsOf(after))];
  for (const token of had.difference(has)) sql.run('DELETE FROM create_request WHERE token = ?', [token]);
  for (const token of has.difference(had)) {
    const { file_id: id, title, at } = requestOf(token, after, Date.now());
    sql.run('INSERT OR IGNORE INTO create_request (token, file_id, title, at) VALUES (?, ?, ?, ?)', [
      token,
      id,
      title,
      at,
    ]);
  }
}

/**
 * Brings those lines in order with the rows: an older ledger has none, and a restored row may have other tokens. A line that is added
 * here gets the time at which its file came in, because nothing else is known.
 */
export async function settleRequests(db: Kysely<LedgerTables>): Promise<void> {
  const rows = await db
    .selectFrom('file')
    .selectAll()
    .where(sql<boolean>`intent is not null or suspects != '[]'`)
    .execute();
  const wanted = new Map(
    rows.map(factsOf).flatMap((facts) => suspectsOf(facts).map((token) => [token, facts] as const)),
  );
  const lines = await db.selectFrom('create_request').select('token').execute();
  const has = new Set(lines.map(({ token }) => token));
  const stray = [...has].filter((token) => !wanted.has(token));
  if (stray.length > 0) await db.deleteFrom('create_request').where('token', 'in', stray).execute();
  for (const [token, facts] of wanted) {
    if (!has.has(token))
      await db
        .insertInto('create_request')
        .values(requestOf(token, facts, facts.discoveredAt))
        .execute();
  }
}

function requestOf(token: string, facts: Facts, at: number): LedgerTables['create_request'] {
  return { token, file_id: facts.id, title: facts.plan?.title ?? facts.path, at };
}

import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Backlog } from '../pipeline/estimate.ts';
import type { Connection } from './connection.ts';
import type { LedgerTables } from './schema.ts';
import { countsOf } from './snapshot.ts';

/** Totals over all rows. */
export interface Totals {
  /** See `LedgerSnapshot.counts`. */
  readonly 'by state': Readonly<Record<string, number>>;
  /** Remaining work for all unfinished files. */
  readonly backlog: Omit<Backlog, 'feeds'>;
  /** Feeds still to be published for unfinished files. */
  readonly 'feeds ahead': readonly string[];
  /**
   * When the oldest unfinished file arrived, and when the last file was done, in epoch milliseconds; null: no such
   * file.
   */
  readonly 'waiting since': { readonly oldest: number | null; readonly done: number | null };
  /** Local files to delete later. `nextAt`: when the next one is due; null if only a full disk triggers deletions. */
  readonly deletions: { readonly files: number; readonly nextAt: number | null };
  /** Files that existed before the first start and are waiting to be adopted, and how many of them were compared. */
  readonly adoption: { readonly files: number; readonly compared: number };
}

export interface TotalsStore {
  totals<K extends keyof Totals>(of: K): Promise<Totals[K]>;
}

export function createTotals(store: Connection): TotalsStore {
  const { db, words, read } = store;
  const queries: { readonly [K in keyof Totals]: () => Promise<Totals[K]> } = {
    'by state': () => read(() => countsOf(words)),
    backlog: () => backlogOf(db),
    'feeds ahead': () => feedsAhead(store),
    'waiting since': () => waitingSince(store),
    deletions: () =>
      db
        .selectFrom('file')
        .select((eb) => [
          eb.fn.countAll<number>().as('files'),
          eb.fn.min<number | null>(sql.raw<number | null>(words.inside.dueAt)).as('nextAt'),
        ])
        // The condition is literal, because SQLite does not match a bound value against the condition of the partial
        // index `file_later`.
        .where(sql<boolean>`disposal = 'later'`)
        .executeTakeFirstOrThrow(),
    adoption: () =>
      db
        .selectFrom('file')
        .select((eb) => [
          eb.fn.countAll<number>().as('files'),
          eb.fn.count<number>(sql.raw<string | null>(words.inside.likeness)).as('compared'),
        ])
        // The condition is literal, as in the partial index `file_existing`.
        .where(sql<boolean>`"end" = 'held' and ${sql.raw(words.inside.code)} = 'existing'`)
        .executeTakeFirstOrThrow(),
  };
  return { totals: (of) => queries[of]() };
}

const unfinished = ['queued', 'awaiting upload', 'processing', 'awaiting publish', 'retrying'] as const;

/**
 * Reads only indexes: the first arrival in each state, and the last finished rows back to one that is done. The `+`
 * from `unindexed` keeps SQLite from sorting all done rows.
 */
async function waitingSince({ db, words }: Connection): Promise<Totals['waiting since']> {
  const firsts = unfinished.map(
    (state) =>
      sql`select * from (select discovered_at as at from file where ${sql.raw(words.isIn('state', `'${state}'`))} order by state, seq limit 1) as first`,
  );
  const { rows } = await sql<Totals['waiting since']>`
    select (select min(at) from (${sql.join(firsts, sql` union all `)}) as firsts) as oldest,
      (select ended_at from file where ${sql.raw(words.unindexed('state'))} = 'done' and ended_at > 0 order by ended_at desc limit 1) as done`.execute(
    db,
  );
  return rows[0] ?? { oldest: null, done: null };
}

async function backlogOf(db: Kysely<LedgerTables>): Promise<Omit<Backlog, 'feeds'>> {
  const isUnsent = sql<boolean>`(uploaded_at is null or dying = 1) and source_url is null`;
  return db
    .selectFrom('file')
    .select([
      sql<number>`count(case when video_id is null or dying = 1 then 1 end)`.as('toCreate'),
      sql<number>`count(case when ${isUnsent} then 1 end)`.as('toSend'),
      sql<number>`coalesce(sum(case when ${isUnsent} then size else 0 end), 0)`.as('bytesToSend'),
      sql<number>`count(case when uploaded_at is not null and ready_at is null and dying = 0 then 1 end)`.as(
        'processing',
      ),
      sql<number>`count(ready_at)`.as('toPublish'),
    ])
    .where('state', 'in', unfinished)
    .executeTakeFirstOrThrow();
}

async function feedsAhead({ db, words }: Connection): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly feed: string }>`
    select distinct feed.value as feed from file, ${sql.raw(words.elements(words.inside.feeds))} as feed
    where state in (${sql.join(unfinished)})
      and not exists (select 1 from ${sql.raw(words.names('published'))} as done where done.value = feed.value)`.execute(
    db,
  );
  return rows.map(({ feed }) => feed);
}

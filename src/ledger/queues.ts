import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';
import type { QueueStore, FeedBatch, PublishStore, RetentionStore } from '../pipeline/file/ports.ts';
import { priorities } from '../pipeline/file/queue.ts';
import type { Line, Queued } from '../pipeline/file/queue.ts';
import type { Connection } from './connection.ts';
import { isInLine } from './words.ts';
import type { SqlWords } from './words.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { feedsToPublish } from '../pipeline/file/facts.ts';
import { missingFeed } from '../pipeline/file/reasons.ts';
import type { FileTable } from './schema.ts';

interface QueuedRow {
  readonly id: string;
  readonly folder: string;
  readonly queue: string;
  readonly urgency: number;
  readonly upload_url: string | null;
  readonly is_sent: number;
}

const inLine = sql.raw<boolean>(isInLine);

/** Columns of a `QueuedRow`. @param name SQL for the name of its queue */
const queuedColumns = (name: RawBuilder<string>) =>
  sql`id, folder, ${name} as queue, urgency, upload_url, case when sha256 is null then 0 else 1 end as is_sent`;

const nameIn = ({ inside }: SqlWords) => sql.raw<string>(inside.queue);

/** History lines to search for the last starts. */
const mostLines = 20_000;

/** Positions of files in line. */
export interface LineRows {
  /**
   * Returns, by id, how many files of the same folder, priority, size and urgency are ahead of each file in line.
   *
   * @param most limit on the count
   * @param without ids of files to ignore: those that a step is working on
   */
  before(ids: readonly string[], most: number, without: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Counts the files waiting in each line. @param without ids of files to ignore */
  lines(without: readonly string[]): Promise<readonly Line[]>;
}

/**
 * Provides rows for the lanes. Each query reads a few rows of every queue in index order, no matter how many are
 * waiting.
 */
export function createQueues(store: Connection): QueueStore & LineRows {
  const { db, words } = store;
  const name = nameIn(words);
  return {
    heads: async (state, each, without) => {
      const ofState = sql<boolean>`${inLine} and state = ${state}`;
      const first = sql`select seq from file where ${ofState} and ${sql.raw(words.isIn(words.inside.queue, 'queue.name'))}
        and ${words.mayBeTaken()} and id not in ${words.texts(without)} order by ${sql.raw(words.orderIn(words.inside.queue))} limit ${each}`;
      const rows = await sql<QueuedRow>`
        with recursive queue (name) as (
          select min(${name}) from file where ${ofState}
          union all
          select (select min(${name}) from file where ${ofState} and ${name} > queue.name) from queue
          where queue.name is not null
        )
        select ${queuedColumns(sql.raw('queue.name'))} from ${words.queueWith(first)}
        where queue.name is not null and ${words.canRead('substr(queue.name, 4)')} order by seq`.execute(db);
      return rows.rows.map(queued);
    },
    lastStarts: async (limit) => {
      const rows = await sql<QueuedRow>`
        select ${queuedColumns(name)} from (
          select seq as at, file_id from history
          where seq > (select max(seq) from history) - ${mostLines} and state = 'awaiting upload'
          order by seq desc limit ${limit}) as started
        join file on id = file_id order by at desc`.execute(db);
      return rows.rows.map(queued);
    },
    before: (ids, most, without) => placesIn(store, ids, most, without),
    lines: (without) => linesIn(store, without),
  };
}

async function placesIn(
  { db, words }: Connection,
  ids: readonly string[],
  most: number,
  without: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const name = nameIn(words);
  const rows = await sql<{ readonly id: string; readonly n: number }>`
    with wanted as (
      select urgency as haste, seq as place, id, state as at, ${name} as line from file where id in ${words.texts(ids)} and ${inLine})
    select id, (select count(*) from (
      select 1 from ${sql.raw(words.by('file_queue'))} where ${inLine} and state = at and ${name} = line
        and (urgency, seq) < (haste, place)
        and id not in ${words.texts(without)} limit ${most}) as before) as n
    from wanted`.execute(db);
  return new Map(rows.rows.map(({ id, n }) => [id, n]));
}

async function linesIn({ db, words }: Connection, without: readonly string[]): Promise<readonly Line[]> {
  const name = nameIn(words);
  const rows = await sql<Pick<Line, 'state' | 'folder' | 'files' | 'bytes'> & { readonly queue: string }>`
    select state, ${name} as queue, min(folder) as folder, count(*) as files, sum(size) as bytes from ${sql.raw(words.by('file_queue'))}
    where ${inLine} and id not in ${words.texts(without)} group by state, ${name}`.execute(db);
  return rows.rows.map(({ queue, ...line }) => ({ ...line, ...kindOf(queue), isUrgent: queue[2] === '1' }));
}

function queued({ id, folder, queue, urgency, upload_url: uploadUrl, is_sent: isSent }: QueuedRow): Queued {
  return { id, folder, urgency: urgency === 0 ? null : urgency, uploadUrl, isSent: isSent === 1, ...kindOf(queue) };
}

/** Parses a queue's name, which begins with its priority and size. */
function kindOf(queue: string): Pick<Queued, 'priority' | 'isBig'> {
  return { priority: priorities[Number(queue[0])] ?? 'normal', isBig: queue[1] === '1' };
}

/**
 * Columns read from rows that wait for feeds. Only these, because the publisher asks every second and thousands of rows
 * may be waiting.
 */
const readyColumns = ['id', 'ready_at', 'plan', 'published', 'last_failure'] as const;

type ReadyRow = Pick<Selectable<FileTable>, (typeof readyColumns)[number]>;

/** Creates the queries of the rounds that do not return files. */
export function createRounds({ db, words }: Connection): PublishStore & RetentionStore {
  const folder = sql.raw<string>(words.inside.folder);
  const whenFullOf = sql.raw<number | null>(words.inside.whenFull);
  return {
    waiting: async () => {
      const rows = db.selectFrom('file').select(readyColumns).where('state', '=', 'awaiting publish').orderBy('seq');
      return batchesOf(await rows.execute());
    },
    fullMarks: async (folders) => {
      const byKey = new Map(folders.map((each) => [words.key(each), each]));
      const marks = await db
        .selectFrom('file')
        .select([folder.as('key'), whenFullOf.$castTo<number>().as('whenFull')])
        .distinct()
        // The condition is literal, as in the partial index `file_crowding`.
        .where(sql<boolean>`disposal = 'later'`)
        .where(folder, 'in', [...byKey.keys()])
        .where(whenFullOf, 'is not', null)
        .execute();
      return marks.map(({ key, whenFull }) => ({ folder: byKey.get(key) ?? key, whenFull }));
    },
  };
}

/** Groups ready files by the feeds they are not in yet. */
function batchesOf(rows: readonly ReadyRow[]): readonly FeedBatch[] {
  const byFeed = new Map<string, ReadyRow[]>();
  for (const row of rows) {
    for (const feed of unpublishedFeeds(row)) {
      const ready = byFeed.get(feed) ?? [];
      ready.push(row);
      byFeed.set(feed, ready);
    }
  }
  return [...byFeed].map(([feed, ready]) => {
    const times = ready.map(({ ready_at: at }) => at ?? 0).toSorted((one, other) => one - other);
    return {
      feed,
      ids: ready.map(({ id }) => id),
      missing: new Map(ready.flatMap(missingOf)),
      firstReadyAt: times.at(0) ?? 0,
      lastReadyAt: times.at(-1) ?? 0,
    };
  });
}

function missingOf({ id, last_failure: failure }: ReadyRow): readonly (readonly [string, string])[] {
  const feed = failure === null ? null : missingFeed({ lastFailure: JSON.parse(failure) as Facts['lastFailure'] });
  return feed === null ? [] : [[id, feed]];
}

function unpublishedFeeds(row: ReadyRow): readonly string[] {
  const plan = row.plan === null ? null : (JSON.parse(row.plan) as Facts['plan']);
  const published = JSON.parse(row.published) as Facts['published'];
  return feedsToPublish({ plan, published });
}

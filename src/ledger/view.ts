import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Backlog } from '../pipeline/estimate.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { AttemptFailure } from '../pipeline/file/failure.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Line } from '../pipeline/file/queue.ts';
import type { Connection } from './connection.ts';
import { findFiles } from './find.ts';
import { linesIn, placesIn } from './queues.ts';
import { allFacts, filesIn, versionOf } from './row.ts';
import type { LedgerTables } from './schema.ts';
import { countsOf } from './snapshot.ts';
import { readRecord } from './work.ts';

/** A line of a file's history. */
export interface HistoryLine {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly state: string;
  readonly note: string | null;
  /** Class, code and HTTP status of the failure that the line reports; null without one. */
  readonly failure: AttemptFailure | null;
}

/** Which rows a listing shows. */
export interface FileFilter {
  readonly states?: readonly string[];
  /** Only files that arrived or ended at or after this time (epoch milliseconds), or have not ended yet. */
  readonly since?: number;
  /** Also these rows, by id, when they are in one of these states. */
  readonly also?: { readonly ids: readonly string[]; readonly states: readonly string[] };
  readonly limit: number;
  readonly newestFirst?: boolean;
}

/** Queries for people and programs. */
export interface LedgerView {
  /** See `LedgerSnapshot.counts`. */
  counts(): Promise<Readonly<Record<string, number>>>;
  /** When the oldest file that has not ended came in, and when the last one was done: epoch milliseconds; null without one. */
  waitingSince(): Promise<{ readonly oldest: number | null; readonly done: number | null }>;
  /** The remaining work of all files that have not ended. */
  backlog(): Promise<Omit<Backlog, 'feeds'>>;
  /** Feeds that are still to be published for these files. */
  feedsAhead(): Promise<readonly string[]>;
  list(filter: FileFilter): Promise<readonly Facts[]>;
  /**
   * By id, by video id, by absolute path (the newest row there), by the absolute path that files of its name were moved from, by
   * file name (the newest at each path), by the beginning of an id (at least 4 characters), or by any of these as `ls` prints it,
   * escaped and shortened: the first of these that finds anything.
   */
  find(name: string): Promise<readonly Facts[]>;
  /**
   * Of files in line how many of the same folder, priority and size are before each, by id.
   *
   * @param most limit of the count
   * @param without files that are not counted, by id: those that a step works on
   */
  before(ids: readonly string[], most: number, without: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** How many files wait in each line. @param without as above */
  lines(without: readonly string[]): Promise<readonly Line[]>;
  history(id: string): Promise<readonly HistoryLine[]>;
  /** Reports every path that the watcher need not report again; of several rows at a path the newest comes last. */
  known(folder: string, tell: (file: KnownFile) => void): Promise<void>;
  /** Templates of `after_ready: move` by which files of a folder were moved. */
  movedBy(folder: string): Promise<readonly string[]>;
  /** Whether a file ever got a video in this channel, or was published in this feed. Reads all rows: only for doubtful names. */
  hasSentTo(kind: 'channel' | 'feed', name: string): Promise<boolean>;
}

export function createView(store: Connection): LedgerView {
  const { db, words, read } = store;
  return {
    counts: () => read(() => countsOf(words)),
    waitingSince: () => waitingSince(store),
    backlog: () => backlogOf(db),
    feedsAhead: () => feedsAhead(store),
    list: (filter) => list(db, filter),
    find: (name) => findFiles(store, name),
    before: (ids, most, without) => placesIn(store, ids, most, without),
    lines: (without) => linesIn(store, without),
    history: async (id) => {
      const lines = db.selectFrom('history').select(['at', 'state', 'note', 'failure']).where('file_id', '=', id);
      return (await lines.orderBy('seq').execute()).map(({ failure, ...line }) => ({
        ...line,
        failure: failure === null ? null : (readRecord(failure) as AttemptFailure | null),
      }));
    },
    known: (folder, tell) => tellKnown(store, folder, tell),
    hasSentTo: async (kind, name) => {
      const isSent =
        kind === 'channel'
          ? sql<boolean>`video_id is not null and ${sql.raw(words.inside.channel)} = ${name}`
          : sql<boolean>`exists (select 1 from ${sql.raw(words.names('published'))} as feed where feed.value = ${name})`;
      return (await db.selectFrom('file').select('id').where(isSent).limit(1).executeTakeFirst()) !== undefined;
    },
    movedBy: async (folder) => {
      const rows = await db
        .selectFrom('file')
        .select('after_ready')
        .distinct()
        .where(sql.raw<string>(words.inside.folder), '=', words.key(folder))
        .where('disposal', '=', 'moved')
        .execute();
      const actions = rows.map(({ after_ready: action }) => JSON.parse(action) as Facts['afterReady']);
      return actions.flatMap((action) => (action.kind === 'move' ? [action.to] : []));
    },
  };
}

const unfinished = ['queued', 'awaiting upload', 'processing', 'awaiting publish', 'retrying'] as const;

/**
 * Answered from indexes alone: the first arrival of each state, and the last ended rows back to one that is done. The `+` keeps SQLite
 * from sorting all done rows.
 */
async function waitingSince({ db, words }: Connection): ReturnType<LedgerView['waitingSince']> {
  const firsts = unfinished.map(
    (state) =>
      sql`select * from (select discovered_at as at from file where ${sql.raw(words.isIn('state', `'${state}'`))} order by state, seq limit 1) as first`,
  );
  const { rows } = await sql<Awaited<ReturnType<LedgerView['waitingSince']>>>`
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

function list(db: Kysely<LedgerTables>, filter: FileFilter): Promise<readonly Facts[]> {
  const { states, also, since, limit, newestFirst } = filter;
  const inStates =
    states === undefined
      ? filesIn(db)
      : filesIn(db).where((eb) =>
          eb.or([
            eb('state', 'in', [...states]),
            ...(also === undefined
              ? []
              : [eb.and([eb('id', 'in', [...also.ids]), eb('state', 'in', [...also.states])])]),
          ]),
        );
  const query =
    since === undefined
      ? inStates
      : inStates.where((eb) =>
          eb.or([eb('discovered_at', '>=', since), eb('ended_at', '>=', since), eb('ended_at', 'is', null)]),
        );
  return allFacts(query.orderBy('seq', newestFirst === true ? 'desc' : 'asc').limit(limit));
}

/** A file that a watcher already knows. */
export interface KnownFile {
  readonly path: string;
  readonly version: FileVersion;
  readonly state: string;
}

/**
 * See `LedgerView.known`. Page by page: the rows of 100,000 files at once take 140 MB, which the process keeps.
 */
export async function tellKnown(
  { db, words }: Connection,
  folder: string,
  tell: (file: KnownFile) => void,
): Promise<void> {
  const pathKey = sql.raw<string>(words.inside.path);
  for (let last = { path: '', seq: 0 }, size = rowsPerPage; size === rowsPerPage; await nextTurn()) {
    const rows = await db
      .selectFrom('file')
      .select(['seq', 'path', 'state', 'dev', 'ino', 'birthtime_ns', 'size', 'mtime_ns', 'ctime_ns'])
      .where(sql.raw<string>(words.inside.folder), '=', words.key(folder))
      .where(sql<boolean>`(${pathKey}, seq) > (${words.key(last.path)}, ${last.seq})`)
      .where('state', 'not in', ['vanished', 'superseded'])
      .where((eb) => eb.or([eb('disposal', 'is', null), eb('disposal', '!=', 'deleted')]))
      .orderBy(pathKey)
      .orderBy('seq')
      .limit(rowsPerPage)
      .execute();
    for (const row of rows) tell({ path: row.path, version: versionOf(row), state: row.state });
    last = rows.at(-1) ?? last;
    size = rows.length;
  }
}

/** A page takes some milliseconds. */
const rowsPerPage = 1_000;

import type { Selectable } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { isWithoutChannel, isWithoutFeed } from './cause-name.ts';
import { causesIn, kindsIn, rowsWithoutName } from './causes.ts';
import type { CausesFound, Kind } from './causes.ts';
import { factsOf } from './row.ts';
import type { FileTable } from './schema.ts';
import type { Statements, Value } from './statements.ts';

/** Everything that a view of all files shows, as it was at one moment: its counts agree with its rows. */
export interface LedgerSnapshot extends CausesFound {
  /** Number of rows by state; `not put away` of those whose `after_ready` fails, `without channel` and `without feed` of those that wait for one that the service does not have. */
  readonly counts: Readonly<Record<string, number>>;
  /** Ids of the rows that a step works on. */
  readonly held: readonly string[];
  /** Rows on their way in the order in which they came in: all that a step works on, and the first of each state. */
  readonly working: readonly Facts[];
  /** Rows that need a person, newest first. */
  readonly needing: readonly Facts[];
  /** When the next of those that wait for another try is tried. */
  readonly nextTryAt: number | null;
}

/** Which rows a snapshot has. */
export interface SnapshotQuery {
  /** Ids of the rows that a step works on; asked for in the same moment. */
  held(): readonly string[];
  /** Rows of each state on the way. */
  readonly working: number;
  /** Rows that need a person. */
  readonly needing: number;
}

/** What ended in a stretch of time. */
export interface Ended {
  readonly done: number;
  readonly failed: number;
  readonly held: number;
  /** Of those that are done. */
  readonly bytes: number;
}

/** What the views of all files are made of. */
export interface SnapshotStore {
  /** Read without a pause, so that nothing is written meanwhile. */
  snapshot(query: SnapshotQuery): Promise<LedgerSnapshot>;
  /** Counts rows by when they ended: `from` included, `to` excluded (epoch milliseconds). */
  ended(from: number, to: number): Promise<Ended>;
  /** Lines of all histories, newest first. */
  latestLines(limit: number): Promise<readonly { readonly at: number; readonly state: string }[]>;
  /** When feeds were published, by the rows that ended last. */
  latestPublished(limit: number): Promise<Readonly<Record<string, number>>>;
}

export function createSnapshots(sql: Statements): SnapshotStore {
  return {
    snapshot: async (query) => snapshotOf(sql, query),
    ended: async (from, to) => {
      const rows = sql.rows(endedQuery, [from, to]);
      const of = (state: string): number => Number(rows.find((row) => row['state'] === state)?.['files'] ?? 0);
      const done = rows.find((row) => row['state'] === 'done');
      return { done: of('done'), failed: of('failed'), held: of('held'), bytes: Number(done?.['bytes'] ?? 0) };
    },
    latestLines: async (limit) =>
      sql
        .rows('SELECT at, state FROM history ORDER BY seq DESC LIMIT +?', [limit])
        .map(({ at, state }) => ({ at: Number(at), state: String(state) })),
    latestPublished: async (limit) => {
      const latest: Record<string, number> = {};
      for (const { published } of sql.rows(publishedQuery, [limit]))
        for (const [feed, at] of Object.entries(JSON.parse(String(published)) as Facts['published']))
          latest[feed] = Math.max(latest[feed] ?? 0, at);
      return latest;
    },
  };
}

/** Rows of a state that are counted once more by themselves: they need a person. */
const special = [
  ['not put away', "disposal = 'waiting'"],
  ['without channel', isWithoutChannel],
  ['without feed', isWithoutFeed],
] as const;

const endedQuery = `SELECT +state AS state, count(*) AS files, sum(size) AS bytes FROM file INDEXED BY file_day
  WHERE ended_at >= +? AND ended_at < +? GROUP BY +state`;

const publishedQuery = `SELECT published FROM file INDEXED BY file_day WHERE ended_at IS NOT NULL AND state = 'done'
  ORDER BY ended_at DESC LIMIT +?`;

const workStates = ['queued', 'awaiting upload', 'processing', 'awaiting publish', 'retrying'] as const;

function snapshotOf(sql: Statements, { held, working, needing }: SnapshotQuery): LedgerSnapshot {
  const ids = held();
  const worked = rowsOf(sql, 'SELECT * FROM file WHERE id IN (SELECT value FROM json_each(?))', [JSON.stringify(ids)]);
  const heads = workStates.flatMap((state) => rowsOf(sql, inState(state, 'ASC'), [working]));
  const shown = new Map<number, Row>();
  for (const row of [...worked.filter(({ end }) => end === null), ...heads]) shown.set(row.seq, row);
  const kinds = kindsIn(sql);
  return {
    counts: countsOf(sql),
    held: ids,
    working: [...shown.values()].toSorted(bySeq).map(factsOf),
    needing: needing === 0 ? [] : needingIn(sql, kinds, needing),
    ...causesIn(sql, kinds),
    nextTryAt: (sql.rows('SELECT min(not_before) AS at FROM file WHERE not_before IS NOT NULL', [])[0]?.['at'] ??
      null) as number | null,
  };
}

/** The newest of each kind of need. */
function needingIn(sql: Statements, kinds: readonly Kind[], limit: number): readonly Facts[] {
  const rows = [
    ...['failed', 'held'].flatMap((state) => rowsOf(sql, inState(state, 'DESC'), [limit])),
    ...rowsOf(sql, `SELECT * FROM file WHERE disposal = 'waiting' ORDER BY seq DESC LIMIT +?`, [limit]),
    ...rowsWithoutName(sql, kinds, limit),
  ];
  const bySeqOnce = new Map(rows.map((row) => [row.seq, row]));
  return [...bySeqOnce.values()].toSorted(bySeq).toReversed().slice(0, limit).map(factsOf);
}

type Row = Selectable<FileTable>;

/** The state stands in the text: SQLite chooses the index by it. */
function inState(state: string, order: 'ASC' | 'DESC'): string {
  return `SELECT * FROM file INDEXED BY file_state WHERE state = '${state}' ORDER BY seq ${order} LIMIT +?`;
}

function rowsOf(sql: Statements, text: string, values: readonly Value[]): readonly Row[] {
  return sql.rows(text, values) as unknown as readonly Row[];
}

function bySeq(one: Row, other: Row): number {
  return one.seq - other.seq;
}

/** See `LedgerView.counts`. */
export function countsOf(sql: Statements): Readonly<Record<string, number>> {
  const rows = sql.rows('SELECT state, count(*) AS files FROM file GROUP BY state', []);
  const counted = rows.map(({ state, files }): [string, number] => [String(state), Number(files)]);
  const waiting = special.flatMap(([name, which]): readonly [string, number][] => {
    const [found] = sql.rows(`SELECT count(*) AS files FROM file WHERE ${which}`, []);
    const files = Number(found?.['files'] ?? 0);
    return files > 0 ? [[name, files]] : [];
  });
  return Object.fromEntries([...counted, ...waiting]);
}

import type { Selectable } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Connection } from './connection.ts';
import type { Value, Work } from './work.ts';
import { isWithoutChannel, isWithoutFeed, resumedStage, needsPerson } from './words.ts';
import { factsOf, rowColumns } from './row.ts';
import type { FileTable } from './schema.ts';
import { ask } from './work.ts';
import type { SqlWords } from './words.ts';
import { unknownNameCodes } from '../pipeline/file/failure.ts';

/** Everything that a view of all files shows, read at one moment so that counts agree with rows. */
export interface LedgerSnapshot extends CausesFound {
  /**
   * Number of rows by state, and of rows that need a person: `not put away` (`after_ready` failed), `without channel`
   * and `without feed` (missing on the service).
   */
  readonly counts: Readonly<Record<string, number>>;
  readonly retrying: Retrying;
  /** Ids of rows that a step is working on. */
  readonly held: readonly string[];
  /** Unfinished rows in order of arrival: all that a step is working on, and the first of each state. */
  readonly working: readonly Facts[];
  /** Rows that need a person, newest first. */
  readonly needing: readonly Facts[];
  /** When the next retrying row is due, in epoch milliseconds; null: no row is retrying. */
  readonly nextTryAt: number | null;
}

/** Number of rows waiting for a retry, by the stage they will resume. */
type Retrying = Readonly<Record<(typeof resumedStages)[number], number>>;

/** Which rows a snapshot contains. */
interface SnapshotQuery {
  /** Returns the ids of rows that a step is working on, at the moment of the snapshot. */
  held(): readonly string[];
  /** Limit on unfinished rows per state. */
  readonly working: number;
  /** Limit on rows that need a person. */
  readonly needing: number;
}

/** The data behind the views of all files. */
export interface SnapshotStore {
  /** Reads everything in one transaction. */
  snapshot(query: SnapshotQuery): Promise<LedgerSnapshot>;
  /** Returns history lines of all files, newest first. */
  latestLines(limit: number): Promise<readonly { readonly at: number; readonly state: string }[]>;
  /** Returns when feeds were last published, according to the rows that finished last. */
  latestPublished(limit: number): Promise<Readonly<Record<string, number>>>;
}

export function createSnapshots({ read, words }: Connection): SnapshotStore {
  return {
    snapshot: (query) => read(() => snapshotOf(words, query)),
    latestLines: async (limit) =>
      (await read(() => ask('SELECT at, state FROM history ORDER BY seq DESC LIMIT CAST(? AS INTEGER)', [limit]))).map(
        ({ at, state }) => ({ at: Number(at), state: String(state) }),
      ),
    latestPublished: async (limit) => {
      const latest: Record<string, number> = {};
      for (const { published } of await read(() => ask(publishedQuery(words), [limit])))
        for (const [feed, at] of Object.entries(JSON.parse(String(published)) as Facts['published']))
          latest[feed] = Math.max(latest[feed] ?? 0, at);
      return latest;
    },
  };
}

/** Conditions for rows that need a person and are counted in addition to their state. */
const special = ({ inside: { code } }: SqlWords) =>
  [
    ['not put away', "disposal = 'waiting'"],
    ['without channel', isWithoutChannel(code)],
    ['without feed', isWithoutFeed(code)],
  ] as const;

const publishedQuery = (words: SqlWords): string => `SELECT published FROM ${words.by('file_day')}
  WHERE ended_at IS NOT NULL AND state = 'done' ORDER BY ended_at DESC LIMIT CAST(? AS INTEGER)`;

const workStates = ['queued', 'awaiting upload', 'processing', 'awaiting publish', 'retrying'] as const;

function* snapshotOf(words: SqlWords, { held, working, needing }: SnapshotQuery): Work<LedgerSnapshot> {
  const ids = held();
  const worked = yield* rowsOf(`SELECT ${rowColumns} FROM file WHERE id IN ${words.textList}`, [JSON.stringify(ids)]);
  const heads = yield* eachOf(workStates, (state) => rowsOf(inState(words, state, 'ASC'), [working]));
  const shown = new Map<number, Row>();
  for (const row of [...worked.filter(({ end }) => end === null), ...heads]) shown.set(row.seq, row);
  const kinds = yield* kindsIn(words);
  const [next] = yield* ask('SELECT min(not_before) AS at FROM file WHERE not_before IS NOT NULL');
  return {
    counts: yield* countsOf(words),
    retrying: yield* retryingOf(),
    held: ids,
    working: [...shown.values()].toSorted(bySeq).map(factsOf),
    needing: needing === 0 ? [] : yield* needingIn(words, kinds, needing),
    ...(yield* causesIn(words, kinds)),
    nextTryAt: (next?.['at'] ?? null) as number | null,
  };
}

/** Returns the newest rows of each kind that needs a person. */
function* needingIn(words: SqlWords, kinds: readonly Kind[], limit: number): Work<readonly Facts[]> {
  const rows = [
    ...(yield* eachOf(['failed', 'held'], (state) => rowsOf(inState(words, state, 'DESC'), [limit]))),
    ...(yield* rowsOf(
      `SELECT ${rowColumns} FROM file WHERE disposal = 'waiting' ORDER BY seq DESC LIMIT CAST(? AS INTEGER)`,
      [limit],
    )),
    ...(yield* rowsWithoutName(words, kinds, limit)),
  ];
  const bySeqOnce = new Map(rows.map((row) => [row.seq, row]));
  return [...bySeqOnce.values()].toSorted(bySeq).toReversed().slice(0, limit).map(factsOf);
}

type Row = Selectable<FileTable>;

/** Returns a query for rows in a state. The state is literal, because SQLite chooses the index by it. */
function inState(words: SqlWords, state: string, order: 'ASC' | 'DESC'): string {
  return `SELECT ${rowColumns} FROM ${words.by('file_state')} WHERE ${words.isIn('state', `'${state}'`)} ORDER BY state ${order}, seq ${order} LIMIT CAST(? AS INTEGER)`;
}

function* rowsOf(text: string, values: readonly Value[]): Work<readonly Row[]> {
  return (yield* ask(text, values)) as unknown as readonly Row[];
}

function bySeq(one: Row, other: Row): number {
  return one.seq - other.seq;
}

/** See `LedgerSnapshot.counts`. */
export function* countsOf(words: SqlWords): Work<Readonly<Record<string, number>>> {
  const rows = yield* ask('SELECT state, count(*) AS files FROM file GROUP BY state');
  const counts = rows.map(({ state, files }): [string, number] => [String(state), Number(files)]);
  for (const [name, which] of special(words)) {
    const [found] = yield* ask(`SELECT count(*) AS files FROM file WHERE ${which}`);
    const files = Number(found?.['files'] ?? 0);
    if (files > 0) counts.push([name, files]);
  }
  return Object.fromEntries(counts);
}

const resumedStages = ['queued', 'uploading', 'processing', 'publishing'] as const;

/** Counts retrying rows by stage. There is no GROUP BY, because SQLite would sort the rows for it. */
const retryingQuery = `SELECT ${resumedStages.map((stage) => `count(CASE stage WHEN '${stage}' THEN 1 END) AS ${stage}`).join(', ')}
  FROM (SELECT ${resumedStage} AS stage FROM file WHERE not_before IS NOT NULL AND "end" IS NULL) AS retrying`;

function* retryingOf(): Work<Retrying> {
  const [row] = yield* ask(retryingQuery);
  const of = (stage: keyof Retrying): number => Number(row?.[stage] ?? 0);
  return {
    queued: of('queued'),
    uploading: of('uploading'),
    processing: of('processing'),
    publishing: of('publishing'),
  };
}

/** Rows that need a person for the same reason. */
interface CauseFound {
  readonly cause: string;
  readonly files: number;
  /** Distinct file name extensions, most frequent first. */
  readonly extensions: readonly string[];
  /** The file that arrived first. */
  readonly first: Facts;
  /** The newest files of the most frequent folders and extensions. */
  readonly examples: readonly Facts[];
}

export interface CausesFound {
  /** Sorted by number of files, most first. */
  readonly causes: readonly CauseFound[];
  /** Number of causes that are not listed, and of their files. */
  readonly more: { readonly causes: number; readonly files: number };
}

/** Limit on causes listed with their rows; the rest are only counted. */
const mostCauses = 10;

const mostExamples = 3;

/** Counts rows that need a person by cause, folder and extension. Reads one index and no rows. */
function* kindsIn(words: SqlWords): Work<readonly Kind[]> {
  const { cause, code, extension, folder } = words.inside;
  // Selecting the smallest `seq` of each group makes SQLite read every row: 80 ms for 100,000 rows instead of 7.
  const rows = yield* ask(`SELECT ${cause} AS cause, ${folder} AS folder, ${extension} AS extension, count(*) AS files
    FROM ${words.by('file_cause')} WHERE ${needsPerson(code)} GROUP BY ${cause}, ${folder}, ${extension}
    ORDER BY ${cause} NULLS FIRST, ${folder}, ${extension}`);
  return rows as unknown as readonly Kind[];
}

/** Groups kinds by cause and adds some of their rows. */
function* causesIn(words: SqlWords, kinds: readonly Kind[]): Work<CausesFound> {
  const byCause = [...Map.groupBy(kinds, ({ cause }) => cause)]
    .map(([cause, of]) => ({
      cause: cause ?? 'unknown',
      files: total(of),
      kinds: of.toSorted((one, other) => other.files - one.files),
    }))
    .toSorted((one, other) => other.files - one.files);
  const shown = byCause.slice(0, mostCauses);
  const rest = byCause.slice(mostCauses);
  const causes: CauseFound[] = [];
  for (const { cause, files, kinds: of } of shown) {
    const firsts = yield* eachOf(of, (kind) => rowsOfKind(words, kind, 'ASC', 1));
    const newest = yield* eachOf(of.slice(0, mostExamples), (kind) => rowsOfKind(words, kind, 'DESC', 1));
    const extensions = [...new Set(of.map(({ extension }) => extension))];
    causes.push({ cause, files, extensions, first: oldestOf(firsts), examples: newest.map(factsOf) });
  }
  return { causes, more: { causes: rest.length, files: total(rest) } };
}

/** Returns rows that wait for a channel or feed that the service does not have: the newest of each kind. */
function* rowsWithoutName(words: SqlWords, kinds: readonly Kind[], limit: number): Work<readonly Row[]> {
  const names = Object.values(unknownNameCodes);
  const nameless = kinds.filter(({ cause }) => names.some((name) => cause?.startsWith(name) === true));
  return yield* eachOf(nameless.slice(0, mostKinds), (kind) => rowsOfKind(words, kind, 'DESC', limit));
}

/** Limit on kinds to search, because each costs one query. */
const mostKinds = 100;

interface Kind {
  readonly cause: string | null;
  /** Folder key, as in the index. */
  readonly folder: string;
  readonly extension: string;
  readonly files: number;
}

/** Runs `work` for each item in sequence and joins the results. */
function* eachOf<T, R>(all: readonly T[], work: (one: T) => Work<readonly R[]>): Work<readonly R[]> {
  const found: R[] = [];
  for (const one of all) found.push(...(yield* work(one)));
  return found;
}

/** Returns the oldest or newest rows of a kind. */
function* rowsOfKind(
  words: SqlWords,
  { cause, folder, extension }: Kind,
  order: 'ASC' | 'DESC',
  limit: number,
): Work<readonly Row[]> {
  const { inside } = words;
  const rows = yield* ask(
    `SELECT ${rowColumns} FROM ${words.by('file_cause')} WHERE ${needsPerson(inside.code)}
      AND ${inside.cause} ${cause === null ? 'IS NULL' : '= ?'} AND ${inside.folder} = ? AND ${inside.extension} = ? ORDER BY seq ${order} LIMIT CAST(? AS INTEGER)`,
    [...(cause === null ? [] : [cause]), folder, extension, limit],
  );
  return rows as unknown as readonly Row[];
}

function oldestOf(rows: readonly Row[]): Facts {
  return factsOf(rows.reduce((oldest, row) => (row.seq < oldest.seq ? row : oldest)));
}

function total(counted: readonly { readonly files: number }[]): number {
  return counted.reduce((sum, { files }) => sum + files, 0);
}

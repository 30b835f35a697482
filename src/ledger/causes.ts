import type { Selectable } from 'kysely';
import { unknownNameCodes } from '../pipeline/file/failure.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { needsPerson } from './words.ts';
import { factsOf, rowColumns } from './row.ts';
import type { FileTable } from './schema.ts';
import { ask } from './work.ts';
import type { Work } from './work.ts';
import type { SqlWords } from './words.ts';

/** Rows that need a person for the same reason. */
export interface CauseFound {
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
export function* kindsIn(words: SqlWords): Work<readonly Kind[]> {
  const { cause, code, extension, folder } = words.inside;
  // Selecting the smallest `seq` of each group makes SQLite read every row: 80 ms for 100,000 rows instead of 7.
  const rows = yield* ask(`SELECT ${cause} AS cause, ${folder} AS folder, ${extension} AS extension, count(*) AS files
    FROM ${words.by('file_cause')} WHERE ${needsPerson(code)} GROUP BY ${cause}, ${folder}, ${extension}
    ORDER BY ${cause} NULLS FIRST, ${folder}, ${extension}`);
  return rows as unknown as readonly Kind[];
}

/** Groups kinds by cause and adds some of their rows. */
export function* causesIn(words: SqlWords, kinds: readonly Kind[]): Work<CausesFound> {
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
    const firsts = yield* eachOf(of, (kind) => rowsOf(words, kind, 'ASC', 1));
    const newest = yield* eachOf(of.slice(0, mostExamples), (kind) => rowsOf(words, kind, 'DESC', 1));
    const extensions = [...new Set(of.map(({ extension }) => extension))];
    causes.push({ cause, files, extensions, first: oldestOf(firsts), examples: newest.map(factsOf) });
  }
  return { causes, more: { causes: rest.length, files: total(rest) } };
}

/** Returns rows that wait for a channel or feed that the service does not have: the newest of each kind. */
export function* rowsWithoutName(words: SqlWords, kinds: readonly Kind[], limit: number): Work<readonly Row[]> {
  const names = Object.values(unknownNameCodes);
  const nameless = kinds.filter(({ cause }) => names.some((name) => cause?.startsWith(name) === true));
  return yield* eachOf(nameless.slice(0, mostKinds), (kind) => rowsOf(words, kind, 'DESC', limit));
}

/** Limit on kinds to search, because each costs one query. */
const mostKinds = 100;

export interface Kind {
  readonly cause: string | null;
  /** Folder key, as in the index. */
  readonly folder: string;
  readonly extension: string;
  readonly files: number;
}

type Row = Selectable<FileTable>;

/** Runs `work` for each item in sequence and joins the results. */
export function* eachOf<T, R>(all: readonly T[], work: (one: T) => Work<readonly R[]>): Work<readonly R[]> {
  const found: R[] = [];
  for (const one of all) found.push(...(yield* work(one)));
  return found;
}

/** Returns the oldest or newest rows of a kind. */
function* rowsOf(
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

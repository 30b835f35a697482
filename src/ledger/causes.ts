import type { Selectable } from 'kysely';
import { unknownNameCodes } from '../pipeline/file/failure.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { causeName, extensionName, needsPerson } from './cause-name.ts';
import { factsOf } from './row.ts';
import type { FileTable } from './schema.ts';
import type { Statements } from './statements.ts';

/** Rows that need a person for the same reason. */
export interface CauseFound {
  readonly cause: string;
  readonly files: number;
  /** Endings of their names, each once, the most frequent first. */
  readonly extensions: readonly string[];
  /** The one that came in first. */
  readonly first: Facts;
  /** The newest of the most frequent folders and endings. */
  readonly examples: readonly Facts[];
}

export interface CausesFound {
  /** The most files first. */
  readonly causes: readonly CauseFound[];
  /** The causes that are not among these. */
  readonly more: { readonly causes: number; readonly files: number };
}

/** Causes with their rows; of more, only their number is of use to anybody. */
const mostCauses = 10;

const mostExamples = 3;

/** How many rows need a person, by all that makes them alike: an index alone answers, however many there are. */
export function kindsIn(sql: Statements): readonly Kind[] {
  return sql.rows(kindsQuery, []) as unknown as readonly Kind[];
}

/** The same by cause, with some of the rows. */
export function causesIn(sql: Statements, kinds: readonly Kind[]): CausesFound {
  const byCause = [...Map.groupBy(kinds, ({ cause }) => cause)]
    .map(([cause, of]) => ({
      cause: cause ?? 'unknown',
      files: total(of),
      kinds: of.toSorted((one, other) => other.files - one.files),
    }))
    .toSorted((one, other) => other.files - one.files);
  const shown = byCause.slice(0, mostCauses);
  const rest = byCause.slice(mostCauses);
  return {
    causes: shown.map(({ cause, files, kinds: of }) => ({
      cause,
      files,
      extensions: [...new Set(of.map(({ extension }) => extension))],
      first: oldestOf(of.flatMap((kind) => rowsOf(sql, kind, 'ASC', 1))),
      examples: of
        .slice(0, mostExamples)
        .flatMap((kind) => rowsOf(sql, kind, 'DESC', 1))
        .map(factsOf),
    })),
    more: { causes: rest.length, files: total(rest) },
  };
}

/** Rows that wait for a channel or feed that the service does not have: the newest of each kind. */
export function rowsWithoutName(sql: Statements, kinds: readonly Kind[], limit: number): readonly Row[] {
  const names = Object.values(unknownNameCodes);
  return kinds
    .filter(({ cause }) => names.some((name) => cause?.startsWith(name) === true))
    .slice(0, mostKinds)
    .flatMap((kind) => rowsOf(sql, kind, 'DESC', limit));
}

/** Of those that wait for a name. Each is a search of its own. */
const mostKinds = 100;

export interface Kind {
  readonly cause: string | null;
  readonly folder: string;
  readonly extension: string;
  readonly files: number;
}

/** With the smallest `seq` of each group, SQLite reads every row: 80 ms for 100,000 instead of 7. */
const kindsQuery = `SELECT ${causeName} AS cause, folder, ${extensionName} AS extension, count(*) AS files
  FROM file INDEXED BY file_cause WHERE ${needsPerson} GROUP BY ${causeName}, folder, ${extensionName}`;

type Row = Selectable<FileTable>;

/** The first or the newest of a kind. */
function rowsOf(
  sql: Statements,
  { cause, folder, extension }: Kind,
  order: 'ASC' | 'DESC',
  limit: number,
): readonly Row[] {
  return sql.rows(
    `SELECT * FROM file INDEXED BY file_cause WHERE ${needsPerson}
      AND ${causeName} IS ? AND folder = ? AND ${extensionName} = ? ORDER BY seq ${order} LIMIT +?`,
    [cause, folder, extension, limit],
  ) as unknown as readonly Row[];
}

function oldestOf(rows: readonly Row[]): Facts {
  return factsOf(rows.reduce((oldest, row) => (row.seq < oldest.seq ? row : oldest)));
}

function total(counted: readonly { readonly files: number }[]): number {
  return counted.reduce((sum, { files }) => sum + files, 0);
}

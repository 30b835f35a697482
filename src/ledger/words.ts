import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { unknownNameCodes } from '../pipeline/file/failure.ts';
import type { SeenFolders } from '../pipeline/file/ports.ts';
import type { StoredRow, Work } from './work.ts';

/** Where the SQL dialects of the stores differ. All other SQL is common to both. */
export interface SqlWords {
  /** Values inside a column: an expression, or a separate column that the writer fills. `cause` is `causeKey`. */
  readonly inside: Readonly<Record<Inside, string>>;
  /** The value of `inside.folder` and `inside.path` for a text. */
  key(text: string): string;
  /** The common prefix of that value for all texts with this prefix. */
  keyStart(text: string): string;
  /** The expression of the unique index on a text column, for texts of any length. */
  unique(column: string): string;
  /** The table `file`, read through this index where the store accepts such a hint. */
  by(index: string): string;
  /** A column, kept off its own index. */
  unindexed(column: string): string;
  /** Compares a column with a value so that the index that begins with it also gives the order. */
  isIn(column: string, value: string): string;
  /** The order of arrival, to be used with `isIn`. */
  orderIn(column: string): string;
  /** A subquery with these values, however many. */
  texts(values: readonly string[]): RawBuilder<unknown>;
  numbers(values: readonly number[]): RawBuilder<unknown>;
  /** The same in a plain statement, for one value: a JSON array. */
  readonly textList: string;
  readonly numberList: string;
  /** The table of the strings in a JSON array, with the column `value`. */
  elements(column: string): string;
  /** The table of the names in a JSON object, with the column `value`. */
  names(column: string): string;
  /** Whether one of some columns has a text in it, in upper or lower case. */
  hasText(text: string, columns: readonly RawBuilder<unknown>[]): RawBuilder<boolean>;
  /** Whether the last part of a path is a file name, given as `stem` and `ending`, or a numbered copy of it. */
  isCopyOf(path: string, stem: string, ending: string): RawBuilder<boolean>;
  /** Locks the row that a statement reads, until the write is done. */
  readonly forWrite: string;
  /** The facts as the store can keep them. */
  kept(facts: Facts): Facts;
  /** Whether the row of a new file may be added. @throws {AlreadyKnownError} another host was faster */
  beforeInsert(facts: Facts, instead: string | null): Work<void>;
  /** Every column that is written, as SQL. */
  readonly allColumns: string;
  /** Columns of a row in addition to its facts. @param before the stored row, if there is one */
  beside(facts: Facts, before?: StoredRow): StoredRow;
  /** Joins each row of the table `queue` with the rows of `file` whose numbers a subquery returns. */
  queueWith(numbers: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Whether a host sent the file or, before it was sent, wrote its row last. */
  isOfHost(name: string): RawBuilder<boolean>;
  /** Whether a waiting row is free: no other host holds it. */
  mayBeTaken(): RawBuilder<boolean>;
  /** Whether this host can read the files of a folder. */
  canRead(folder: string): RawBuilder<boolean>;
}

/**
 * `folder` and `path`: the text, or a key where the text is too long for an index. `queue`: the number of the priority,
 * whether the file is big (`bigBytes`), the folder. `extension`: `mkv`; empty for a name without one.
 */
type Inside =
  | 'folder'
  | 'path'
  | 'stage'
  | 'queue'
  | 'channel'
  | 'feeds'
  | 'title'
  | 'code'
  | 'cause'
  | 'extension'
  | 'twin'
  | 'likeness'
  | 'dueAt'
  | 'whenFull'
  | 'kind'
  | 'missingFeed'
  | 'overKind';

/** Rows that wait for a lane. */
export const isInLine = "state IN ('queued', 'awaiting upload')";

/** The stage that a retrying row will resume, as SQL: see `stageOf`. */
export const resumedStage = `CASE WHEN dying = 1 THEN 'queued' WHEN ready_at IS NOT NULL THEN 'publishing'
    WHEN uploaded_at IS NOT NULL THEN 'processing' WHEN upload_started_at IS NOT NULL THEN 'uploading' ELSE 'queued' END`;

/** `stageOf` for a row that no step works on, as SQL. @param code of its last failure */
export const rowStage = (code: string): string => `(CASE state WHEN 'retrying' THEN ${resumedStage}
    WHEN 'awaiting upload' THEN 'queued' WHEN 'awaiting publish' THEN 'publishing'
    WHEN 'skipped' THEN CASE WHEN ${code} = 'ignored' THEN 'ignored' ELSE 'skipped' END ELSE state END)`;

/** Rows that wait for a channel that the service does not have. @param code of their failure, as SQL */
export const isWithoutChannel = (code: string): string =>
  `(state = 'retrying' AND ${code} = '${unknownNameCodes.channel}')`;

/** Rows that wait for a feed that the service does not have. */
export const isWithoutFeed = (code: string): string =>
  `(state = 'awaiting publish' AND ${code} = '${unknownNameCodes.feed}')`;

/** `needsPerson` of a file, as SQL. */
export const needsPerson = (code: string): string =>
  `(state IN ('failed', 'held') OR disposal = 'waiting' OR ${isWithoutChannel(code)} OR ${isWithoutFeed(code)})`;

/** Whether a row is in a folder that one host can read. It uses no index; the other conditions of the query do. */
export function isSeen({ names, below, without }: SeenFolders, column = 'folder'): RawBuilder<boolean> {
  const folder = sql.raw(column);
  const isBelow = sql`substr(${folder}, 1, length(${below})) = ${below}`;
  const isLeftOut = without.length === 0 ? sql`` : sql` and ${folder} not in (${sql.join(without)})`;
  const isNamed = names.length === 0 ? sql`` : sql` or ${folder} in (${sql.join(names)})`;
  return sql<boolean>`((${isBelow}${isLeftOut})${isNamed})`;
}

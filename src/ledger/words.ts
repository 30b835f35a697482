import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { unknownNameCodes } from '../pipeline/file/failure.ts';
import type { SeenFolders } from '../pipeline/file/ports.ts';
import type { StoredRow, Work } from './work.ts';

/** SQL that differs between the stores' dialects. All other SQL is common to both. */
export interface SqlWords {
  /**
   * SQL for values inside columns: an expression, or a separate column that the writer fills. `cause` is `causeKey`.
   */
  readonly inside: Readonly<Record<Inside, string>>;
  /** Returns the value of `inside.folder` or `inside.path` for a text. */
  key(text: string): string;
  /** Returns the common prefix of the keys of all texts with this prefix. */
  keyStart(text: string): string;
  /** Returns the expression of the unique index on a text column, for texts of any length. */
  unique(column: string): string;
  /** Returns the table `file`, read through this index if the store accepts such a hint. */
  by(index: string): string;
  /** Returns a column in a form that does not use its index. */
  unindexed(column: string): string;
  /** Compares a column with a value so that the index that begins with the column also gives the order. */
  isIn(column: string, value: string): string;
  /** Returns the order of a queue, for use with `isIn`. */
  orderIn(column: string): string;
  /** Returns a subquery with these values; their number is not limited. */
  texts(values: readonly string[]): RawBuilder<unknown>;
  numbers(values: readonly number[]): RawBuilder<unknown>;
  /** Subquery for use in a plain statement; its single bound value is a JSON array. */
  readonly textList: string;
  readonly numberList: string;
  /** Returns a table of the strings in a JSON array, with the column `value`. */
  elements(column: string): string;
  /** Returns a table of the names in a JSON object, with the column `value`. */
  names(column: string): string;
  /** Whether any of the columns contains a text, ignoring case. */
  hasText(text: string, columns: readonly RawBuilder<unknown>[]): RawBuilder<boolean>;
  /** Whether the last part of a path is a file name, given as `stem` and `ending`, or a numbered copy of it. */
  isCopyOf(path: string, stem: string, ending: string): RawBuilder<boolean>;
  /** Clause that locks the row read by a statement until the write is done. */
  readonly forWrite: string;
  /** Returns the facts in a form that the store can keep. */
  kept(facts: Facts): Facts;
  /** Checks that a new file's row may be added. @throws {AlreadyKnownError} if another host was faster */
  beforeInsert(facts: Facts, instead: string | null): Work<void>;
  /** Every column that is written, as SQL. */
  readonly allColumns: string;
  /** Returns the columns to store in addition to a file's facts. @param before the stored row, if there is one */
  beside(facts: Facts, before?: StoredRow): StoredRow;
  /** Joins each row of the table `queue` with the rows of `file` whose numbers a subquery returns. */
  queueWith(numbers: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Whether the file belongs to a host: the one that sent it or, if it is unsent, the last to write its row. */
  isOfHost(name: string): RawBuilder<boolean>;
  /** Whether a waiting row is free: no other host holds it. */
  mayBeTaken(): RawBuilder<boolean>;
  /** Whether this host can read the files of a folder. */
  canRead(folder: string): RawBuilder<boolean>;
}

/**
 * `folder` and `path`: the text, or a key if the text is too long for an index. `queue`: priority number, whether the
 * file is big (`bigBytes`), whether it is urgent, and folder. `extension`: such as `mkv`; empty for a name without one.
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

/** SQL condition for rows that are waiting for a lane. */
export const isInLine = "state IN ('queued', 'awaiting upload')";

/** SQL for the stage that a retrying row will resume: see `stageOf`. */
export const resumedStage = `CASE WHEN dying = 1 THEN 'queued' WHEN ready_at IS NOT NULL THEN 'publishing'
    WHEN uploaded_at IS NOT NULL THEN 'processing' WHEN upload_started_at IS NOT NULL THEN 'uploading' ELSE 'queued' END`;

/** SQL for `stageOf` of a row that no step is working on. @param code SQL for the code of its last failure */
export const rowStage = (code: string): string => `(CASE state WHEN 'retrying' THEN ${resumedStage}
    WHEN 'awaiting upload' THEN 'queued' WHEN 'awaiting publish' THEN 'publishing'
    WHEN 'skipped' THEN CASE WHEN ${code} = 'ignored' THEN 'ignored' ELSE 'skipped' END ELSE state END)`;

/** SQL condition for rows that wait for a channel missing on the service. @param code SQL for their failure code */
export const isWithoutChannel = (code: string): string =>
  `(state = 'retrying' AND ${code} = '${unknownNameCodes.channel}')`;

/** SQL condition for rows that wait for a feed missing on the service. */
export const isWithoutFeed = (code: string): string =>
  `(state = 'awaiting publish' AND ${code} = '${unknownNameCodes.feed}')`;

/** SQL condition for `needsPerson`. */
export const needsPerson = (code: string): string =>
  `(state IN ('failed', 'held') OR disposal = 'waiting' OR ${isWithoutChannel(code)} OR ${isWithoutFeed(code)})`;

/** Whether a row is in a folder that one host can read. It uses no index, so the query's other conditions must. */
export function isSeen({ names, below, without }: SeenFolders, column = 'folder'): RawBuilder<boolean> {
  const folder = sql.raw(column);
  const isBelow = sql`substr(${folder}, 1, length(${below})) = ${below}`;
  const isLeftOut = without.length === 0 ? sql`` : sql` and ${folder} not in (${sql.join(without)})`;
  const isNamed = names.length === 0 ? sql`` : sql` or ${folder} in (${sql.join(names)})`;
  return sql<boolean>`((${isBelow}${isLeftOut})${isNamed})`;
}

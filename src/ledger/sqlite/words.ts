import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { unknownNameCodes } from '../../pipeline/file/failure.ts';
import { rowColumns } from '../row.ts';
import { rowStage } from '../words.ts';
import type { SqlWords } from '../words.ts';
import { longestText } from '../../pipeline/file/selection.ts';

/** SQL for JSON in a row that may be damaged. Broken JSON must not prevent opening the ledger or repairing the row. */
const whole = (column: string): string => `iif(json_valid(${column}), ${column}, '{}')`;

/**
 * SQL for the queue in which a row waits: priority number, whether the file is big (`bigBytes`), whether it is urgent,
 * and folder.
 */
const queueName = `(CASE ${whole('plan')} ->> '$.priority' WHEN 'high' THEN '0' WHEN 'low' THEN '2' ELSE '1' END
    || (size > 268435456) || (urgency <> 0) || folder)`;

const failure = whole('last_failure');
const code = `(${failure} ->> '$.code')`;

/**
 * SQL for the service's explanation of a refusal, as in 'the service answered 422 invalid_request: tags: has too many'.
 */
const said = `substr(${failure} ->> '$.message', instr(${failure} ->> '$.message', ${code} || ': ') + length(${code}) + 2)`;
const field = `substr(${said}, 1, instr(${said}, ':') - 1)`;

/** SQL for `causeKey`. */
const causeName = `(CASE
    WHEN last_failure IS NULL THEN NULL
    WHEN disposal = 'waiting' THEN 'local.' || ${code}
    WHEN ${code} = '${unknownNameCodes.channel}' THEN ${code} || coalesce('.' || (${whole('plan')} ->> '$.channel'), '')
    WHEN ${code} = '${unknownNameCodes.feed}' THEN ${code} || coalesce('.' || (${failure} ->> '$.feed'), '')
    WHEN ${failure} ->> '$.kind' = 'gone' THEN 'deleted_on_service'
    WHEN ${failure} ->> '$.status' IN (400, 409, 413, 415, 422) AND ${field} <> '' AND ${field} NOT GLOB '*[^a-zA-Z_]*'
      THEN ${code} || '.' || ${field}
    ELSE ${code} END)`;

const ending = "substr(path, length(rtrim(path, replace(path, '.', ''))) + 1)";

/** SQL for the extension, such as `mkv`; empty if there is none, or an unlikely one. */
const extensionName = `iif(instr(path, '.') = 0 OR ${ending} GLOB '*[^a-zA-Z0-9]*' OR length(${ending}) > 8, '', lower(${ending}))`;

/** SQL for values inside columns that files are searched by, exactly as in the indexes. `cause` is `causeKey`. */
export const inside = {
  folder: 'folder',
  path: 'path',
  stage: rowStage(code),
  queue: queueName,
  channel: `(${whole('plan')} ->> '$.channel')`,
  feeds: `(${whole('plan')} -> '$.publish')`,
  title: `(${whole('plan')} ->> '$.title')`,
  code,
  cause: causeName,
  extension: extensionName,
  twin: `(${whole('last_failure')} ->> '$.twin')`,
  likeness: `(${whole('last_failure')} -> '$.likeness')`,
  dueAt: `(ended_at + (${whole('after_ready')} ->> '$.later.afterMs'))`,
  whenFull: `(${whole('after_ready')} ->> '$.later.whenFull')`,
  kind: `(${whole('last_failure')} ->> '$.kind')`,
  missingFeed: `(${whole('last_failure')} ->> '$.feed')`,
  overKind: `(${whole('last_failure')} ->> '$.over.kind')`,
} satisfies SqlWords['inside'];

/** SQL for a ledger that one process has open exclusively. */
export const sqliteWords: SqlWords = {
  inside,
  key: (text) => text,
  keyStart: (text) => text,
  unique: (column) => column,
  by: (index) => `file indexed by ${index}`,
  // A `+` keeps SQLite from using an index.
  unindexed: (column) => `+${column}`,
  isIn: (column, value) => `${column} = ${value}`,
  orderIn: () => 'urgency, seq',
  texts: listOf,
  numbers: listOf,
  textList: '(SELECT value FROM json_each(?))',
  numberList: '(SELECT value FROM json_each(?))',
  elements: (column) => `json_each(${column})`,
  names: (column) => `(SELECT key AS value FROM json_each(${column}))`,
  hasText,
  isCopyOf: (path, stem, ending) => {
    // Escapes the characters that have a meaning in GLOB.
    const [name, end] = [stem, ending].map((text) => text.replaceAll(/[*?[]/g, '[$&]'));
    const of = sql.raw(path);
    return sql<boolean>`('/' || ${of} glob ${`*/${name}${end}`} or '/' || ${of} glob ${`*/${name} ([1-9]*)${end}`})`;
  },
  forWrite: '',
  kept: (facts) => facts,
  *beforeInsert() {},
  allColumns: rowColumns,
  beside: () => ({}),
  queueWith: (numbers) => sql`queue join file on seq in (${numbers})`,
  // No row in a single host's ledger names a host.
  isOfHost: () => sql<boolean>`0`,
  mayBeTaken: () => sql<boolean>`1`,
  canRead: () => sql<boolean>`1`,
};

/** Passes any number of values as one JSON array, because SQLite allows at most 32,766 bound values per statement. */
function listOf(values: readonly (string | number)[]): RawBuilder<unknown> {
  return sql`(select value from json_each(${JSON.stringify(values)}))`;
}

/**
 * Whether any of the columns contains a text, ignoring case. SQLite's LIKE ignores case only for ASCII
 * (sqlite.org/lang_expr.html). GLOB matches every letter if given both cases, but takes four times as long, so it only
 * checks what LIKE finds.
 */
function hasText(text: string, columns: readonly RawBuilder<unknown>[]): RawBuilder<boolean> {
  // SQLite ends a pattern at the first NUL, so it would match other texts. No file name contains a NUL.
  if (text.length > longestText || text.includes('\0')) return sql<boolean>`0`;
  const found = spellings(text).flatMap((spelling) => columns.map((column) => contains(column, spelling)));
  return sql<boolean>`(${sql.join(found, sql` or `)})`;
}

/** Returns both Unicode forms of a text: macOS stores `ü` in file names as two characters, but a keyboard sends one. */
function spellings(text: string): readonly string[] {
  return [...new Set([text.normalize('NFC'), text.normalize('NFD')])];
}

function contains(column: RawBuilder<unknown>, text: string): RawBuilder<unknown> {
  const letters = Array.from(text.toWellFormed(), casesOf);
  const like = sql`${column} like ${`%${letters.map(likeLetter).join('')}%`} escape '\\'`;
  if (!letters.some(isBeyondLike)) return like;
  const glob = sql`${column} glob ${`*${letters.map(globLetter).join('')}*`}`;
  // LIKE matches every row if the text has no ASCII letter. Searching for the first letter narrows the rows down in a
  // third of GLOB's time.
  return letters.every(isBeyondLike) ? sql`(${hasOneOf(column, letters[0])} and ${glob})` : sql`(${like} and ${glob})`;
}

function hasOneOf(column: RawBuilder<unknown>, cases: readonly string[] = []): RawBuilder<unknown> {
  return sql`(${sql.join(
    cases.map((letter) => sql`instr(${column}, ${letter})`),
    sql` or `,
  )})`;
}

/** Returns a letter in its cases, the letter itself first. The upper case of `ß` is two letters, so it is omitted. */
function casesOf(letter: string): readonly string[] {
  const cases = [letter, letter.toLowerCase(), letter.toUpperCase()];
  return [...new Set(cases)].filter((one) => Array.from(one).length === 1);
}

function isBeyondLike([letter = '', ...others]: readonly string[]): boolean {
  return others.length > 0 && letter > '\u007F';
}

function likeLetter(cases: readonly string[]): string {
  const [letter = ''] = cases;
  if (isBeyondLike(cases)) return '_';
  return '\\%_'.includes(letter) ? `\\${letter}` : letter;
}

function globLetter(cases: readonly string[]): string {
  const [letter = ''] = cases;
  return cases.length > 1 || '*?['.includes(letter) ? `[${cases.join('')}]` : letter;
}

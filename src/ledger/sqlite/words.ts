import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { unknownNameCodes } from '../../pipeline/file/failure.ts';
import { rowColumns } from '../row.ts';
import { rowStage } from '../words.ts';
import type { SqlWords } from '../words.ts';
import { hasText } from './search-text.ts';

/** JSON of a row that may be damaged: it must prevent neither the opening of the ledger nor the repair of the row. */
const whole = (column: string): string => `iif(json_valid(${column}), ${column}, '{}')`;

/** The queue in which a row waits: the number of its priority, whether it is big (`bigBytes`), its folder. */
const queueName = `(CASE ${whole('plan')} ->> '$.priority' WHEN 'high' THEN '0' WHEN 'low' THEN '2' ELSE '1' END
    || (size > 268435456) || folder)`;

const failure = whole('last_failure');
const code = `(${failure} ->> '$.code')`;

/** The service's explanation of a refusal: 'the service answered 422 invalid_request: tags: has too many'. */
const said = `substr(${failure} ->> '$.message', instr(${failure} ->> '$.message', ${code} || ': ') + length(${code}) + 2)`;
const field = `substr(${said}, 1, instr(${said}, ':') - 1)`;

/** `causeKey`, as SQL. */
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

/** `mkv`; empty for a name without one, or with one that is hardly one. */
const extensionName = `iif(instr(path, '.') = 0 OR ${ending} GLOB '*[^a-zA-Z0-9]*' OR length(${ending}) > 8, '', lower(${ending}))`;

/** Values inside columns that files are found by, exactly as in the indexes. `cause` is `causeKey`. */
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

/** For a ledger that one process has exclusively. */
export const sqliteWords: SqlWords = {
  inside,
  key: (text) => text,
  keyStart: (text) => text,
  unique: (column) => column,
  by: (index) => `file indexed by ${index}`,
  // A `+` keeps SQLite off an index.
  unindexed: (column) => `+${column}`,
  isIn: (column, value) => `${column} = ${value}`,
  orderIn: () => 'seq',
  texts: listOf,
  numbers: listOf,
  textList: '(SELECT value FROM json_each(?))',
  numberList: '(SELECT value FROM json_each(?))',
  elements: (column) => `json_each(${column})`,
  names: (column) => `(SELECT key AS value FROM json_each(${column}))`,
  hasText,
  isCopyOf: (path, stem, ending) => {
    // The characters that mean something to GLOB, as themselves.
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
  // No row of a ledger of one host names a host.
  isOfHost: () => sql<boolean>`0`,
  mayBeTaken: () => sql<boolean>`1`,
  canRead: () => sql<boolean>`1`,
};

/** One value, however many: SQLite takes 32,766. */
function listOf(values: readonly (string | number)[]): RawBuilder<unknown> {
  return sql`(select value from json_each(${JSON.stringify(values)}))`;
}

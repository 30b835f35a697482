import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import type { SqlWords } from '../words.ts';
import { rowColumns } from '../row.ts';
import { causeName, extensionName } from './cause-name.ts';
import { rowStage } from '../row-stage.ts';
import { hasText } from './search-text.ts';

/**
 * The queue in which a row waits: the number of its priority, whether it is big (`bigBytes`), its folder. A plan that a flipped bit has
 * damaged must not keep the row from being mended.
 */
export const queueName = `(CASE iif(json_valid(plan), plan, '{}') ->> '$.priority' WHEN 'high' THEN '0' WHEN 'low' THEN '2' ELSE '1' END
    || (size > 268435456) || folder)`;

/** JSON of a row that may be damaged: what is none must keep nobody from opening the ledger, nor the row from being mended. */
const whole = (column: string): string => `iif(json_valid(${column}), ${column}, '{}')`;

const code = `(${whole('last_failure')} ->> '$.code')`;

/** What files are found by and is inside of a column, as it is in the indexes. `cause` is `causeKey`. */
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

/** Where one process has the ledger for itself. */
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

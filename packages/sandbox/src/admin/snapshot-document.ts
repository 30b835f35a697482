import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { SCHEMA_VERSION } from '../store/database.ts';
import type { Row } from '../store/columns.ts';
import { columnNames } from '../store/tables.ts';

// A snapshot is one JSON document with these fields, `tables` with the rows of every table, and `media` with the files
// in base64, by video id.

/** Maximum counter value. Leaves room for further counting: SQLite throws when reading numbers above 2^53. */
const MAX_COUNT = 2 ** 52;
/** Maximum size, 16 TiB, larger than any file here. Sums stay exact. */
const MAX_BYTES = 2 ** 44;

/** Schemas of the fields other than `tables` and `media`. */
export const snapshotFields = {
  v: z.literal(1, 'must be 1'),
  schema: z.literal(SCHEMA_VERSION, `must be ${SCHEMA_VERSION}, the only schema that this sandbox reads`),
  exported_at: z.string('must be a time'),
  sequences: z.record(
    z.string(),
    z.int('must be numbers').min(0, 'must not be below 0').max(MAX_COUNT, `must not be above ${MAX_COUNT}`),
    'must be an object',
  ),
} as const satisfies Record<string, z.ZodType>;

export type SnapshotField = keyof typeof snapshotFields;

export const mediaFile = z.base64('must be base64');

/** Checks a field of the document. @throws ApiError 422 */
export function checkedField<T>(value: unknown, schema: z.ZodType<T>, place: string): T {
  const result = schema.safeParse(value);
  if (!result.success) throw refusal(place, result.error.issues[0]?.message ?? 'is not valid');
  return result.data;
}

/**
 * Returns a check for a table's rows, covering what the database does not: that they have this sandbox's columns, and
 * that no value would break a later reader. The check throws ApiError 422.
 */
export function rowCheck(database: DatabaseSync, table: string): (row: unknown, place: string) => Row {
  const columns = columnNames(database, table);
  const ruled = columns.flatMap((column) => {
    const rule = rules.find(({ columns: named }) => named.test(column));
    return rule ? [{ column, rule }] : [];
  });
  return (given, place) => {
    if (!isRow(given)) throw refusal(place, 'must be an object of strings, exact numbers and nulls');
    requireSame(Object.keys(given), columns, place);
    for (const { column, rule } of ruled)
      if (given[column] !== null && !rule.is(given[column])) throw refusal(`${place}.${column}`, `is not ${rule.what}`);
    return given;
  };
}

/** @param place in the document; untrusted @param what a predicate such as 'is unknown' */
export function refusal(place: string, what: string): ApiError {
  return new ApiError('invalid_request', `${place.slice(0, 200)} ${what}.`);
}

export function requireSame(given: readonly string[], wanted: readonly string[], place: string): void {
  if (given.length === wanted.length && wanted.every((name, index) => name === given[index])) return; // in the order of an export
  const missing = wanted.find((name) => !given.includes(name));
  if (missing !== undefined) throw refusal(place, `lacks ${missing}`);
  const unknown = given.find((name) => !wanted.includes(name));
  if (unknown !== undefined) throw refusal(place, `has the unknown field ${JSON.stringify(unknown.slice(0, 60))}`);
}

function isRow(given: unknown): given is Row {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false;
  for (const name in given) if (!isValue((given as Row)[name])) return false;
  return true;
}

function isValue(value: unknown): boolean {
  return value === null || typeof value === 'string' || (typeof value === 'number' && isExact(value));
}

/** Whether SQLite can read the number back; it throws on larger ones. */
function isExact(number: number): boolean {
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER;
}

interface Rule {
  readonly columns: RegExp;
  /**
   * Checks a non-null value. A plain function, because a document has millions of values and a schema would allocate
   * for each.
   */
  readonly is: (value: unknown) => boolean;
  readonly what: string;
}

const upTo = (max: number) => (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= max;
const matching = (form: RegExp) => (value: unknown) => typeof value === 'string' && form.test(value);
const jsonOf = (form: z.ZodType) => (value: unknown) => typeof value === 'string' && isJson(value, form);
const isWhole = upTo(Number.MAX_SAFE_INTEGER);
const isCount = upTo(MAX_COUNT);
const isName = matching(/^[\w-]{1,100}$/);

/**
 * Rules by column name; the first match applies. Ids become parts of addresses and file names, times become dates in
 * responses, media types become headers.
 */
const rules: readonly Rule[] = [
  { columns: /^due_at_ms$/, is: isWhole, what: 'a time in milliseconds' },
  { columns: /_at_ms$/, is: upTo(Date.UTC(9999, 11, 31)), what: 'a time in milliseconds before the year 9999' },
  { columns: /^(key_)?id$|^number$|_id$/, is: (value) => isCount(value) || isName(value), what: 'an id' },
  { columns: /_count$|^attempts$|^position$/, is: isCount, what: 'a count' },
  { columns: /_bytes$/, is: upTo(MAX_BYTES), what: 'a size in bytes' },
  {
    columns: /^(width|height|bit_rate|duration_s|frame_rate|watched_s)$/,
    is: (value) => Number(value) >= 0,
    what: 'at least 0',
  },
  { columns: /^is_/, is: upTo(1), what: '0 or 1' },
  { columns: /^(tags|events)$/, is: jsonOf(z.array(z.string())), what: 'a JSON array of strings' },
  { columns: /_settings$/, is: jsonOf(z.record(z.string(), z.unknown())), what: 'a JSON object' },
  { columns: /^file_extension$/, is: matching(/^[a-z0-9]{1,8}$/), what: 'a file extension' },
  { columns: /^media_type$/, is: matching(/^[\w.+-]+\/[\w.+-]+$/), what: 'a media type' },
  { columns: /_sha256$|_hash$/, is: matching(/^[0-9a-f]{64}$/), what: 'a SHA-256 in hex' },
  { columns: /^url$/, is: (value) => typeof value === 'string' && URL.canParse(value), what: 'an address' },
];

function isJson(text: string, form: z.ZodType): boolean {
  try {
    return form.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

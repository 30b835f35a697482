import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { SCHEMA_VERSION } from '../store/database.ts';
import type { Row } from '../store/columns.ts';
import { columnNames, tableNames, type Sequences } from '../store/tables.ts';

/** Maximum counter value. Leaves room for further counting: SQLite throws when reading numbers above 2^53. */
const MAX_COUNT = 2 ** 52;
/** Maximum size, 16 TiB, larger than any file here. Sums stay exact. */
const MAX_BYTES = 2 ** 44;

/** All records: the rows of every table, the highest numbers ever issued, and optionally the files by video id. */
export interface Snapshot {
  readonly v: 1;
  readonly schema: number;
  readonly exported_at: string;
  readonly tables: Readonly<Record<string, readonly Row[]>>;
  readonly sequences: Sequences;
  /** In base64. */
  readonly media?: Readonly<Record<string, string>> | undefined;
}

/** Checks the form of a document. `requireRows` checks the rows, because a schema would allocate for every value. */
export function snapshotSchema(database: DatabaseSync): z.ZodType<Snapshot> {
  const rows = z.array(
    z.custom<Row>(isRow, 'must be an object of strings, exact numbers and nulls'),
    'must be an array',
  );
  const number = z.int('must be numbers').min(0).max(MAX_COUNT, `must not be above ${MAX_COUNT}`);
  const tables = tableNames(database);
  return z.strictObject({
    v: z.literal(1, 'must be 1'),
    schema: z.literal(SCHEMA_VERSION, `must be ${SCHEMA_VERSION}, the only schema that this sandbox reads`),
    exported_at: z.string('must be a time'),
    tables: z.strictObject(Object.fromEntries(tables.map((table) => [table, rows])), 'must be an object'),
    sequences: z.partialRecord(z.enum(tables, 'is unknown'), number, 'must be an object') as z.ZodType<Sequences>,
    media: z.record(z.string(), z.base64('must be base64'), 'must be an object').optional(),
  });
}

/**
 * Checks what the database does not: that rows have this sandbox's columns, and that no value would break a later
 * reader. @throws ApiError 422
 */
export function requireRows(database: DatabaseSync, tables: Snapshot['tables']): void {
  for (const [table, rows] of Object.entries(tables)) {
    const columns = columnNames(database, table);
    const ruled = columns.map((column) => [column, rules.find((rule) => rule.columns.test(column))] as const);
    for (const [index, row] of rows.entries()) {
      const place = `tables.${table}.${index}`;
      if (Object.keys(row).toString() !== columns.toString())
        throw refusal(place, `must have exactly the columns ${columns.join(', ')}, in this order`);
      for (const [column, rule] of ruled)
        if (rule && row[column] !== null && !rule.is(row[column]))
          throw refusal(`${place}.${column}`, `is not ${rule.what}`);
    }
  }
}

/** @param place in the document; untrusted @param what a predicate such as 'is unknown' */
export function refusal(place: string, what: string): ApiError {
  return new ApiError('invalid_request', `${place.slice(0, 200)} ${what}.`);
}

function isRow(given: unknown): boolean {
  return typeof given === 'object' && given !== null && !Array.isArray(given) && Object.values(given).every(isValue);
}

function isValue(value: unknown): boolean {
  // SQLite throws when it reads larger numbers back.
  const isExact = typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
  return value === null || typeof value === 'string' || isExact;
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

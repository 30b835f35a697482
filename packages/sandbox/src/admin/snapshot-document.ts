import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { SCHEMA_VERSION } from '../store/database.ts';
import { columnNames, tableNames, type Tables } from '../store/tables.ts';

/** A snapshot of all records. `media` has the files in base64, by video id. */
export type SnapshotDocument = z.output<typeof snapshotDocument>;

const version = z.literal(1, 'must be 1');
const schema = z.literal(SCHEMA_VERSION, `must be ${SCHEMA_VERSION}, the only schema that this sandbox reads`);
const value = z.union([z.string(), z.number().refine(isExact), z.null()], 'must be a string, an exact number or null');

/** SQLite throws on reading others. */
function isExact(number: number): boolean {
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER;
}

export const snapshotDocument = z.strictObject({
  v: version,
  schema,
  exported_at: z.string('must be a time'),
  tables: z.record(z.string(), z.array(z.record(z.string(), value), 'must be an array of rows')),
  sequences: z.record(z.string(), z.int().min(0)),
  media: z.record(z.string(), z.base64('must be base64')).optional(),
});

/**
 * Checks what the schema of the document cannot: that these are the tables and columns of this sandbox, and that no value would break
 * a later reader. The database itself checks the rest (types, uniqueness, references). @throws ApiError 422
 */
export function requireFittingTables({ tables, sequences }: Tables, database: DatabaseSync): void {
  const known = tableNames(database);
  requireSame(Object.keys(tables), known, 'tables');
  for (const table of Object.keys(sequences))
    if (!known.includes(table)) throw refusal(`sequences.${table}`, 'is unknown');
  for (const table of known) {
    const columns = columnNames(database, table);
    const ruled = columns.flatMap((column) => {
      const rule = rules.find(({ columns: named }) => named.test(column));
      return rule ? [{ column, rule }] : [];
    });
    for (const [index, row] of (tables[table] ?? []).entries()) {
      requireSame(Object.keys(row), columns, `tables.${table}.${index}`);
      for (const { column, rule } of ruled)
        if (!isSane(row[column] ?? null, rule))
          throw refusal(`tables.${table}.${index}.${column}`, `is not ${rule.what}`);
    }
  }
}

export function refusal(place: string, what: string): ApiError {
  return new ApiError('invalid_request', `${place.slice(0, 200)} ${what}.`);
}

function requireSame(given: readonly string[], wanted: readonly string[], place: string): void {
  if (given.length === wanted.length && wanted.every((name, index) => name === given[index])) return; // in the order of an export
  const missing = wanted.find((name) => !given.includes(name));
  if (missing !== undefined) throw refusal(place, `lacks ${missing}`);
  const unknown = given.find((name) => !wanted.includes(name));
  if (unknown !== undefined) throw refusal(place, `has the unknown field ${JSON.stringify(unknown.slice(0, 60))}`);
}

function isSane(given: unknown, rule: Rule): boolean {
  return given === null || rule.is.safeParse(given).success;
}

const asText = (is: (text: string) => boolean) => z.string().refine(is);

interface Rule {
  readonly columns: RegExp;
  readonly is: z.ZodType;
  readonly what: string;
}

/** Ids become parts of addresses and file names, times become dates in answers, media types become headers. The first match counts. */
const rules: readonly Rule[] = [
  { columns: /^due_at_ms$/, is: z.int().min(0), what: 'a time in milliseconds' },
  {
    columns: /_at_ms$/,
    is: z
      .int()
      .min(0)
      .max(Date.UTC(9999, 11, 31)),
    what: 'a time in milliseconds before the year 9999',
  },
  {
    columns: /^(key_)?id$|^number$|_id$/,
    is: z.union([z.int().min(0), asText((id) => /^[\w-]{1,100}$/.test(id))]),
    what: 'an id',
  },
  { columns: /^is_/, is: z.literal([0, 1]), what: '0 or 1' },
  {
    columns: /^(tags|events)$/,
    is: asText((json) => isJson(json, z.array(z.string()))),
    what: 'a JSON array of strings',
  },
  {
    columns: /_settings$/,
    is: asText((json) => isJson(json, z.record(z.string(), z.unknown()))),
    what: 'a JSON object',
  },
  { columns: /^file_extension$/, is: asText((text) => /^[a-z0-9]{1,8}$/.test(text)), what: 'a file extension' },
  { columns: /^media_type$/, is: asText((text) => /^[\w.+-]+\/[\w.+-]+$/.test(text)), what: 'a media type' },
  { columns: /_sha256$|_hash$/, is: asText((text) => /^[0-9a-f]{64}$/.test(text)), what: 'a SHA-256 in hex' },
  { columns: /^url$/, is: asText((text) => URL.canParse(text)), what: 'an address' },
];

function isJson(text: string, form: z.ZodType): boolean {
  try {
    return form.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}

import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

/**
 * The checksum of a row: CRC-32 over its columns, in the order of their names, without `seq` and `checksum` itself. It finds the
 * flipped bits that `integrity_check` cannot see, because it knows nothing of what is in a column.
 */
export function checksumOf(row: Readonly<Record<string, unknown>>): number {
  return checksumOfValues(summed(Object.keys(row)).map((name) => wellFormed(row[name])));
}

/** Of a line of the history. Before there was a column for what failed, lines were summed without it. */
export function checksumOfLine({ failure, ...line }: Readonly<Record<string, unknown>>): number {
  return checksumOf(failure === null ? line : { ...line, failure });
}

/** @param values in the order of the names of their columns */
export function checksumOfValues(values: readonly unknown[]): number {
  return crc32(JSON.stringify(values));
}

/** The `seq` of the rows of `file` whose checksum is another one. Rows without a checksum are left out. */
export function mismatches(database: DatabaseSync, first = 0, last = Number.MAX_SAFE_INTEGER): readonly number[] {
  const names = summedColumns(database).map((name) => `"${name}"`);
  // As arrays: 100,000 rows take a third of a second, as objects three times as long.
  const rows = database.prepare(
    `SELECT seq, checksum, ${names.join(', ')} FROM file WHERE seq BETWEEN ? AND ? AND checksum IS NOT NULL`,
  );
  rows.setReturnArrays(true);
  // A flipped bit can make an integer that a JavaScript number cannot hold.
  rows.setReadBigInts(true);
  const found: number[] = [];
  for (const [seq, checksum, ...values] of rows.iterate(first, last) as unknown as Iterable<readonly unknown[]>)
    if (checksumOfValues(values.map(plain)) !== Number(checksum)) found.push(Number(seq));
  return found;
}

/** The columns of `file` that a checksum covers, in their order. */
export function summedColumns(database: DatabaseSync): readonly string[] {
  return summed(
    database
      .prepare("SELECT name FROM pragma_table_info('file')")
      .all()
      .map(({ name }) => String(name)),
  );
}

/** A value of SQLite as Kysely reads it. */
export function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

function summed(names: readonly string[]): readonly string[] {
  const key = names.join();
  const known = orders.get(key);
  if (known !== undefined) return known;
  const order = names.filter((name) => name !== 'seq' && name !== 'checksum').toSorted();
  orders.set(key, order);
  return order;
}

/** A few tables and queries name columns. Sorting forty names took longer than the checksum. */
const orders = new Map<string, readonly string[]>();

/** SQLite keeps UTF-8: half a surrogate pair, which the service may send, comes back as U+FFFD. */
function wellFormed(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

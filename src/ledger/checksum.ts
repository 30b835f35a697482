import { crc32 } from 'node:zlib';

/**
 * Returns a row's checksum: CRC-32 over its columns, ordered by name, without `seq` and `checksum`. It detects flipped
 * bits inside a column, which `integrity_check` cannot see.
 */
export function checksumOf(row: Readonly<Record<string, unknown>>): number {
  return checksumOfValues(summed(Object.keys(row)).map((name) => wellFormed(row[name])));
}

/** Returns a history line's checksum. An empty `failure` is omitted. */
export function checksumOfLine({ failure, ...line }: Readonly<Record<string, unknown>>): number {
  return checksumOf(failure === null ? line : { ...line, failure });
}

/** @param values in the order of their column names */
export function checksumOfValues(values: readonly unknown[]): number {
  return crc32(JSON.stringify(values));
}

/** Returns the columns that a checksum covers, in checksum order. */
export function summed(names: readonly string[]): readonly string[] {
  const key = names.join();
  const known = orders.get(key);
  if (known !== undefined) return known;
  const order = names.filter((name) => name !== 'seq' && name !== 'checksum').toSorted();
  orders.set(key, order);
  return order;
}

/** Cache for the few distinct column lists: sorting forty names took longer than the checksum. */
const orders = new Map<string, readonly string[]>();

/** Replaces lone surrogates, which the service may send. SQLite stores UTF-8 and returns them as U+FFFD. */
function wellFormed(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

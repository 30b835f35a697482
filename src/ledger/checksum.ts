import { crc32 } from 'node:zlib';

/**
 * The checksum of a row: CRC-32 over its columns, ordered by name, without `seq` and `checksum`. It finds flipped bits
 * inside a column, which `integrity_check` cannot see.
 */
export function checksumOf(row: Readonly<Record<string, unknown>>): number {
  return checksumOfValues(summed(Object.keys(row)).map((name) => wellFormed(row[name])));
}

/** The checksum of a line of the history. It leaves out an empty `failure`. */
export function checksumOfLine({ failure, ...line }: Readonly<Record<string, unknown>>): number {
  return checksumOf(failure === null ? line : { ...line, failure });
}

/** @param values in the order of the names of their columns */
export function checksumOfValues(values: readonly unknown[]): number {
  return crc32(JSON.stringify(values));
}

/** The columns that a checksum covers, in its order. */
export function summed(names: readonly string[]): readonly string[] {
  const key = names.join();
  const known = orders.get(key);
  if (known !== undefined) return known;
  const order = names.filter((name) => name !== 'seq' && name !== 'checksum').toSorted();
  orders.set(key, order);
  return order;
}

/** Cached by the few distinct column lists: sorting forty names took longer than the checksum. */
const orders = new Map<string, readonly string[]>();

/** SQLite stores UTF-8: a lone surrogate, which the service may send, comes back as U+FFFD. */
function wellFormed(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

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

/** In the order in which they are summed. */
export function summed(names: readonly string[]): readonly string[] {
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

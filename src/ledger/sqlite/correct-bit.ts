import type { DatabaseSync } from 'node:sqlite';
import { checksumOfValues } from '../checksum.ts';
import { plain, summedColumns } from './mismatches.ts';

/** The columns of a row by name. */
export type Columns = Readonly<Record<string, unknown>>;

/**
 * Puts right a row of which one bit is wrong: a CRC-32 tells any two single bits apart, so the one flip after which the checksum
 * fits is the right one. That is some thousand tries.
 *
 * @returns the row as it was, or null when more than one bit is wrong, or one that says how long a column is
 */
export function correctBit(database: DatabaseSync, seq: number): Columns | null {
  const names = summedColumns(database);
  const row = readRow(database, seq, names);
  const values = row.values.map(plain);
  const found =
    isPowerOfTwo(checksumOfValues(values) ^ row.checksum) ||
    values.some((_, index) => correctColumn(values, index, row));
  return found ? Object.fromEntries(names.map((name, index) => [name, values[index]])) : null;
}

interface RawRow {
  readonly checksum: number;
  readonly values: readonly unknown[];
  /** The bytes of each column that is text: a flipped bit may have made them invalid UTF-8. */
  readonly bytes: readonly (Uint8Array | null)[];
}

function readRow(database: DatabaseSync, seq: number, names: readonly string[]): RawRow {
  const columns = names.map((name) => `"${name}"`);
  const query = database.prepare(
    `SELECT checksum, ${[...columns, ...columns.map((name) => `CAST(${name} AS BLOB)`)].join(', ')} FROM file WHERE seq = ?`,
  );
  query.setReturnArrays(true);
  query.setReadBigInts(true);
  const [checksum, ...rest] = query.get(seq) as unknown as readonly unknown[];
  const values = rest.slice(0, names.length);
  const bytes = rest.slice(names.length).map((each, index) => (typeof values[index] === 'string' ? each : null));
  return { checksum: Number(checksum), values, bytes: bytes as (Uint8Array | null)[] };
}

/** Tries each bit of a column. Leaves the value that fits, or the one it found. */
function correctColumn(values: unknown[], index: number, { checksum, values: read, bytes }: RawRow): boolean {
  const before = values[index];
  for (const candidate of candidatesOf(read[index], bytes[index] ?? null)) {
    values[index] = candidate;
    if (checksumOfValues(values) === checksum) return true;
  }
  values[index] = before;
  return false;
}

function* candidatesOf(value: unknown, bytes: Uint8Array | null): Iterable<unknown> {
  if (typeof value === 'bigint') {
    for (let bit = 0n; bit < 64n; bit += 1n) yield Number(BigInt.asIntN(64, value ^ (1n << bit)));
  } else if (bytes !== null) {
    const copy = Buffer.from(bytes);
    for (let bit = 0; bit < copy.length * 8; bit += 1) {
      copy[bit >> 3] = copy.readUInt8(bit >> 3) ^ (1 << (bit & 7));
      yield copy.toString();
      copy[bit >> 3] = copy.readUInt8(bit >> 3) ^ (1 << (bit & 7));
    }
  }
}

/** Then the checksum itself has the wrong bit, and the row none. */
function isPowerOfTwo(value: number): boolean {
  const bits = value >>> 0;
  return bits !== 0 && (bits & (bits - 1)) === 0;
}

import type { LedgerTables } from '../../ledger/schema.ts';
import type { StoredRow, Value } from '../../ledger/work.ts';

export type Table = keyof LedgerTables;

/** A ledger that is copied from or to, in one transaction: all of it is of one moment, and is written together or not at all. */
export interface Side {
  /** For people. */
  readonly name: string;
  columns(table: Table): Promise<readonly string[]>;
  /** Values stand where the text has a `?`. */
  ask(text: string, values?: readonly Value[]): Promise<readonly StoredRow[]>;
  /** What this store keeps of a row beside what all stores keep: a checksum, what it looks for. */
  completed(table: Table, row: StoredRow): StoredRow;
  /** Adds rows with the numbers that they have. */
  insert(table: Table, rows: readonly StoredRow[]): Promise<void>;
}

/** The statement that adds rows, and its values. @param clause between columns and values */
export function insertion(table: Table, rows: readonly StoredRow[], clause = ''): { text: string; values: Value[] } {
  const names = Object.keys(rows[0] ?? {});
  const marks = `(${names.map(() => '?').join(', ')})`;
  return {
    text: `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join(', ')}) ${clause} VALUES ${rows.map(() => marks).join(', ')}`,
    values: rows.flatMap((row) => names.map((name) => row[name] ?? null)),
  };
}

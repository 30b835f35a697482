import type { LedgerTables } from '../../ledger/schema.ts';
import type { StoredRow, Value } from '../../ledger/work.ts';

export type Table = keyof LedgerTables;

/** The source or target of a copy, in one transaction: it is one snapshot, and is written completely or not at all. */
export interface Side {
  /** For display. */
  readonly name: string;
  columns(table: Table): Promise<readonly string[]>;
  /** Values replace each `?` of the text. */
  ask(text: string, values?: readonly Value[]): Promise<readonly StoredRow[]>;
  /** Adds the columns that only this store has: a checksum, search columns. */
  completed(table: Table, row: StoredRow): StoredRow;
  /** Adds rows with their existing numbers. */
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

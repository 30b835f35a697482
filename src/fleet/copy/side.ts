import type { LedgerTables } from '../../ledger/schema.ts';
import type { StoredRow, Value } from '../../ledger/work.ts';

export type Table = keyof LedgerTables;

/**
 * The source or target of a copy. Each side is in one transaction, so reads see one snapshot and writes are all or
 * nothing.
 */
export interface Side {
  /** Display name. */
  readonly name: string;
  columns(table: Table): Promise<readonly string[]>;
  /** Runs a statement; `values` replace its `?` placeholders. */
  ask(text: string, values?: readonly Value[]): Promise<readonly StoredRow[]>;
  /** Adds the columns that only this store has, such as checksums and search columns. */
  completed(table: Table, row: StoredRow): StoredRow;
  /** Inserts rows with their existing numbers. */
  insert(table: Table, rows: readonly StoredRow[]): Promise<void>;
}

/** Builds the statement that inserts rows. @param clause text between columns and values */
export function insertion(table: Table, rows: readonly StoredRow[], clause = ''): { text: string; values: Value[] } {
  const names = Object.keys(rows[0] ?? {});
  const marks = `(${names.map(() => '?').join(', ')})`;
  return {
    text: `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join(', ')}) ${clause} VALUES ${rows.map(() => marks).join(', ')}`,
    values: rows.flatMap((row) => names.map((name) => row[name] ?? null)),
  };
}

import type { DatabaseSync } from 'node:sqlite';
import { checksumOf, checksumOfLine } from '../../ledger/checksum.ts';
import { translated } from '../../ledger/unavailable.ts';
import type { StoredRow } from '../../ledger/work.ts';
import { insertion, type Side } from './side.ts';

/** A ledger in a file that nobody else has open. */
export function sqliteSide(database: DatabaseSync, name: string): Side {
  const ask: Side['ask'] = async (text, values = []) =>
    refusing(database, () => database.prepare(text).all(...values) as StoredRow[]);
  return {
    name,
    ask,
    columns: async (table) => {
      const rows = await ask('SELECT name FROM pragma_table_info(?)', [table]);
      return rows.map((row) => String(row['name']));
    },
    completed: (table, row) => {
      if (table === 'file') return { ...row, checksum: checksumOf(row) };
      if (table === 'history') return { ...row, checksum: checksumOfLine(row) };
      return row;
    },
    insert: async (table, rows) => {
      const { text, values } = insertion(table, rows);
      await ask(text, values);
    },
  };
}

/** @param work throws to undo all of it */
export async function inTransaction<T>(database: DatabaseSync, work: () => Promise<T>): Promise<T> {
  refusing(database, () => database.exec('BEGIN IMMEDIATE'));
  try {
    const result = await work();
    refusing(database, () => database.exec('COMMIT'));
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** @throws {LedgerUnavailableError} when the machine refuses */
function refusing<T>(database: DatabaseSync, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translated(error, database.location());
  }
}

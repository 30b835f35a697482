import type { Ask } from '../postgres/pool.ts';
import type { StoredRow } from '../../ledger/work.ts';
import { insertion, type Side, type Table } from './side.ts';

/** Tables with numbers of their own. */
const numbered: ReadonlySet<Table> = new Set(['file', 'history', 'outbox', 'event']);

/** A ledger in the schema `dropcast`, in a transaction of which `ask` asks. */
export function postgresSide(ask: Ask, name: string, completed: Side['completed']): Side {
  const asked: Side['ask'] = (text, values = []) => ask<StoredRow>(numberedMarks(text), values);
  return {
    name,
    ask: asked,
    completed,
    columns: async (table) => {
      const rows = await asked(
        `SELECT attname AS name FROM pg_attribute WHERE attrelid = ?::regclass AND attnum > 0 AND NOT attisdropped
          AND attgenerated = '' ORDER BY attnum`,
        [table],
      );
      return rows.map((row) => String(row['name']));
    },
    insert: async (table, rows) => {
      const { text, values } = insertion(table, rows, numbered.has(table) ? 'OVERRIDING SYSTEM VALUE' : '');
      await asked(text, values);
      // The next new row comes after all that were copied.
      if (numbered.has(table))
        await asked(`SELECT setval(pg_get_serial_sequence(?, 'seq'), (SELECT max(seq) FROM ${table}))`, [table]);
    },
  };
}

/** `?` is SQLite's mark; in our texts it stands nowhere else. */
function numberedMarks(text: string): string {
  let n = 0;
  return text.replaceAll('?', () => `$${(n += 1)}`);
}

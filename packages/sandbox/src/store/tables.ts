import type { DatabaseSync } from 'node:sqlite';
import { text, numberOrNull, type Row } from './columns.ts';

/** The highest numbers ever given out, by table, so that none is given twice. */
export type Sequences = Readonly<Record<string, number>>;

/** An iterator, because a table may be larger than memory. @param table one of `tableNames` */
export function rowsOf(database: DatabaseSync, table: string): NodeJS.Iterator<Row> {
  return database.prepare(`SELECT * FROM ${table}`).iterate();
}

export function readSequences(database: DatabaseSync): Sequences {
  const rows = [...rowsOf(database, 'sqlite_sequence')];
  return Object.fromEntries(rows.map((row) => [text(row, 'name'), Number(row['seq'])] as const));
}

/** Within a transaction. Foreign keys are checked at the commit. */
export function eraseTables(database: DatabaseSync): void {
  database.exec('PRAGMA defer_foreign_keys = ON');
  for (const table of [...tableNames(database), 'sqlite_sequence']) database.exec(`DELETE FROM ${table}`);
}

/**
 * Within a transaction, from an attached database with the same tables, into erased ones.
 * @throws the error of SQLite; a reference to nothing makes the commit throw
 */
export function takeTables(database: DatabaseSync, from: string, sequences: Sequences): void {
  database.exec('PRAGMA defer_foreign_keys = ON');
  for (const table of tableNames(database)) database.exec(`INSERT INTO main.${table} SELECT * FROM ${from}.${table}`);
  database.exec('DELETE FROM sqlite_sequence'); // the inserts above have made their own
  const remember = database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
  for (const [table, last] of Object.entries(sequences)) remember.run(table, last);
}

/**
 * @returns a function that adds one row with all columns of the table. It throws the error of SQLite for a value that a
 *   column cannot have
 */
export function rowInsert(database: DatabaseSync, table: string): (row: Row) => void {
  const columns = columnNames(database, table);
  const insert = database.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`);
  return (row) => void insert.run(...columns.map((column) => row[column] ?? null));
}

export function tableNames(database: DatabaseSync): string[] {
  return database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    .all()
    .map((row) => text(row, 'name'));
}

/** The columns in their order in the table. @param table one of `tableNames` */
export function columnNames(database: DatabaseSync, table: string): string[] {
  return database
    .prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid')
    .all(table)
    .map((row) => text(row, 'name'));
}

/**
 * The latest time in the records, ms since 1970; 0 for none. The clock must not start before it: after a restart, a
 * clock that had been moved forward would leave requests in the future, and the rate limit would count them for days.
 */
export function latestTimeIn(database: DatabaseSync): number {
  const latest = TIMES.map(([table, column]) => `SELECT MAX(${column}) AS at_ms FROM ${table}`).join(' UNION ALL ');
  const row = database.prepare(`SELECT MAX(at_ms) AS at_ms FROM (${latest})`).get();
  return numberOrNull(row ?? {}, 'at_ms') ?? 0;
}

/** Each is the first column of an index, or its table is short. */
const TIMES = [
  ['api_keys', 'created_at_ms'],
  ['api_keys', 'last_used_at_ms'],
  ['channels', 'created_at_ms'],
  ['feeds', 'changed_at_ms'],
  ['videos', 'created_at_ms'],
  ['plays', 'started_at_ms'],
  ['webhooks', 'created_at_ms'],
] as const;

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { text, numberOrNull, type Row } from './columns.ts';

/** The highest number ever issued per table, so that no number is reused. */
export type Sequences = Readonly<Record<string, number>>;

/** @param table one of `tableNames` */
export function rowsOf(database: DatabaseSync, table: string): Row[] {
  return database.prepare(`SELECT * FROM ${table}`).all();
}

export function readSequences(database: DatabaseSync): Sequences {
  const rows = rowsOf(database, 'sqlite_sequence');
  return Object.fromEntries(rows.map((row) => [text(row, 'name'), Number(row['seq'])] as const));
}

/** Deletes all rows. Call within a transaction; foreign keys are checked at the commit. */
export function eraseTables(database: DatabaseSync): void {
  database.exec('PRAGMA defer_foreign_keys = ON');
  for (const table of [...tableNames(database), 'sqlite_sequence']) database.exec(`DELETE FROM ${table}`);
}

/**
 * Adds rows, with all their columns in table order, to the erased tables. Call within a transaction.
 * @throws SQLite's error for a value that a column does not allow; a dangling reference makes the commit throw
 */
export function putRows(
  database: DatabaseSync,
  tables: Readonly<Record<string, readonly Row[]>>,
  sequences: Sequences,
): void {
  for (const [table, rows] of Object.entries(tables)) {
    const places = columnNames(database, table).map(() => '?');
    const insert = database.prepare(`INSERT INTO ${table} VALUES (${places.join(', ')})`);
    for (const row of rows) insert.run(...(Object.values(row) as SQLInputValue[]));
  }
  database.exec('DELETE FROM sqlite_sequence'); // the inserts above have made their own
  const remember = database.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');
  for (const [table, last] of Object.entries(sequences)) remember.run(table, last);
}

export function tableNames(database: DatabaseSync): string[] {
  return database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    .all()
    .map((row) => text(row, 'name'));
}

/** Returns the column names in table order. @param table one of `tableNames` */
export function columnNames(database: DatabaseSync, table: string): string[] {
  return database
    .prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid')
    .all(table)
    .map((row) => text(row, 'name'));
}

/**
 * Returns the latest time in the records, ms since 1970; 0 if there is none. The clock must not start before it: if the
 * clock had been moved forward, a restart would leave requests in the future, and the rate limit would count them for
 * days.
 */
export function latestTimeIn(database: DatabaseSync): number {
  const latest = TIMES.map(([table, column]) => `SELECT MAX(${column}) AS at_ms FROM ${table}`).join(' UNION ALL ');
  const row = database.prepare(`SELECT MAX(at_ms) AS at_ms FROM (${latest})`).get();
  return numberOrNull(row ?? {}, 'at_ms') ?? 0;
}

/** Time columns. Each is the first column of an index, or its table is short. */
const TIMES = [
  ['api_keys', 'created_at_ms'],
  ['api_keys', 'last_used_at_ms'],
  ['channels', 'created_at_ms'],
  ['feeds', 'changed_at_ms'],
  ['videos', 'created_at_ms'],
  ['plays', 'started_at_ms'],
  ['webhooks', 'created_at_ms'],
] as const;

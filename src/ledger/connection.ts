import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { LedgerTables } from './schema.ts';
import { dialectOf } from './sqlite-dialect.ts';
import { openStatements } from './statements.ts';
import type { Statements } from './statements.ts';

/** The one connection to the ledger: as it is, for writes in SQL, and for queries that are checked against the schema. */
export interface Connection {
  readonly database: DatabaseSync;
  readonly sql: Statements;
  readonly db: Kysely<LedgerTables>;
}

/** `db.destroy()` closes all of it. */
export function connectTo(database: DatabaseSync): Connection {
  const sql = openStatements(database);
  return { database, sql, db: new Kysely<LedgerTables>({ dialect: dialectOf(sql) }) };
}

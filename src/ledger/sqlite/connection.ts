import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Compilable } from 'kysely';
import type { Connection } from '../connection.ts';
import type { LedgerTables } from '../schema.ts';
import type { Value } from '../work.ts';
import { dialectOf } from './dialect.ts';
import { createGroupCommit } from './group-commit.ts';
import type { GroupCommit } from './group-commit.ts';
import { doWork, openStatements } from './statements.ts';
import type { Statements } from './statements.ts';
import { sqliteWords } from './words.ts';

/** The single connection to a ledger in a file. */
export interface SqliteConnection extends Connection {
  readonly database: DatabaseSync;
  readonly sql: Statements;
  readonly commits: GroupCommit;
}

/**
 * Connects to a ledger in a file. Writes from one turn of the event loop become durable together. `db.destroy()` closes
 * everything.
 */
export function connectTo(database: DatabaseSync, sql: Statements = openStatements(database)): SqliteConnection {
  const commits = createGroupCommit(sql);
  return {
    database,
    sql,
    commits,
    words: sqliteWords,
    db: new Kysely<LedgerTables>({ dialect: dialectOf(sql) }),
    write: (work) => commits.write((sql) => doWork(sql, work())),
    read: async (work) => doWork(sql, work()),
    // Bypasses Kysely: building and running a query there took longer than SQLite's answer, 15 versus 9 µs for a row
    // and 25 versus 0.4 µs for an empty answer.
    prepared: <Row>(query: Compilable<Row>) => {
      const { sql: text, parameters } = query.compile();
      return async (...last: readonly Value[]) => {
        const same = parameters.slice(0, parameters.length - last.length) as readonly Value[];
        return sql.rows(text, [...same, ...last]) as readonly Row[];
      };
    },
  };
}

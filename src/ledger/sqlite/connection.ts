import type { DatabaseSync } from 'node:sqlite';
import { Kysely } from 'kysely';
import type { Connection } from '../connection.ts';
import type { LedgerTables } from '../schema.ts';
import { createGroupCommit } from './group-commit.ts';
import type { GroupCommit } from './group-commit.ts';
import { dialectOf } from './dialect.ts';
import { preparedQuery } from './prepared-query.ts';
import { doWork, openStatements } from './statements.ts';
import type { Statements } from './statements.ts';
import { sqliteWords } from './words.ts';

/** The one connection to a ledger in a file. */
export interface SqliteConnection extends Connection {
  readonly database: DatabaseSync;
  readonly sql: Statements;
  readonly commits: GroupCommit;
}

/** Writes of one turn of the event loop become durable together. `db.destroy()` closes all of it. */
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
    prepared: (query) => {
      const ask = preparedQuery(sql, query);
      return async (...last) => ask(...last);
    },
  };
}

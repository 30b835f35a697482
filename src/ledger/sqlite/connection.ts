import type { DatabaseSync } from 'node:sqlite';
import { Kysely, SqliteDialect, SqliteDriver, SqliteQueryCompiler } from 'kysely';
import type { Compilable, DatabaseConnection, Driver, QueryCompiler, SqliteDatabase } from 'kysely';
import type { Connection } from '../connection.ts';
import type { Value } from '../work.ts';
import type { LedgerTables } from '../schema.ts';
import { createGroupCommit, doWork, openStatements } from './statements.ts';
import type { GroupCommit, Statements } from './statements.ts';
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

/** Kysely's SQLite dialect on Node's built-in SQLite. */
export function dialectOf(statements: Statements): SqliteDialect {
  return new LedgerDialect(statements);
}

class LedgerDialect extends SqliteDialect {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    super({ database: kyselyDatabase(statements) });
    this.#statements = statements;
  }

  override createDriver(): Driver {
    return new LedgerDriver(this.#statements);
  }

  override createQueryCompiler(): QueryCompiler {
    return new LedgerCompiler();
  }
}

/**
 * Puts a `+` before each placeholder to hide its value from the planner. SQLite replans a statement on each run if the
 * plan depends on a bound value: in a LIMIT, or compared with a column in a partial index's condition. A query without
 * results took 15 µs, now 0.5.
 */
class LedgerCompiler extends SqliteQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return '+?';
  }
}

class LedgerDriver extends SqliteDriver {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    super({ database: kyselyDatabase(statements) });
    this.#statements = statements;
  }

  /**
   * Rolls back, unless SQLite already did because the disk is full or failing (sqlite.org/lang_transaction.html,
   * section 4). A second ROLLBACK would fail, and its error would hide the reason.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#statements.isInTransaction()) await super.rollbackTransaction(connection);
  }
}

function kyselyDatabase(statements: Statements): SqliteDatabase {
  // Kysely types parameters as `unknown`; according to the tables in schema.ts, they are column values.
  const values = (parameters: readonly unknown[]) => parameters as readonly Value[];
  return {
    close: () => statements.close(),
    prepare: (text) => {
      const statement = statements.prepare(text);
      return {
        reader: statement.isQuery,
        all: (parameters) => [...statement.all(values(parameters))],
        run: (parameters) => statement.run(values(parameters)),
        iterate: () => {
          throw new Error('the ledger does not stream rows');
        },
      };
    },
  };
}

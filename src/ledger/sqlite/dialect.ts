import { SqliteDialect, SqliteDriver, SqliteQueryCompiler } from 'kysely';
import type { DatabaseConnection, Driver, QueryCompiler, SqliteDatabase } from 'kysely';
import type { Value } from '../work.ts';
import type { Statements } from './statements.ts';

/** Kysely's SQLite dialect over Node's own SQLite. */
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
 * SQLite plans a statement again at each run if its plan depends on a bound value: in a LIMIT, or compared with a
 * column that the condition of a partial index names. A `+` in front hides the value from the planner. A query without
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
   * When the disk is full or fails, SQLite has already rolled back (sqlite.org/lang_transaction.html, section 4). A
   * second ROLLBACK fails, and its error would hide the reason.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#statements.isInTransaction()) await super.rollbackTransaction(connection);
  }
}

function kyselyDatabase(statements: Statements): SqliteDatabase {
  // Kysely types parameters as `unknown`; by the tables of schema.ts they are values of columns.
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

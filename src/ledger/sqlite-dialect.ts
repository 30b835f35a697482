import type { DatabaseSync } from 'node:sqlite';
import { SqliteDialect, SqliteDriver } from 'kysely';
import type { DatabaseConnection, Driver, SqliteDialectConfig } from 'kysely';

/** Kysely's SQLite dialect over the SQLite that comes with Node. */
export function dialectOf(database: DatabaseSync): SqliteDialect {
  return new LedgerDialect(database);
}

class LedgerDialect extends SqliteDialect {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    super(configOf(database));
    this.#database = database;
  }

  override createDriver(): Driver {
    return new LedgerDriver(this.#database);
  }
}

class LedgerDriver extends SqliteDriver {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    super(configOf(database));
    this.#database = database;
  }

  /**
   * On a full disk or a failing one SQLite has rolled back by itself (sqlite.org/lang_transaction.html, section 4). A second
   * ROLLBACK fails, and its error would stand in for the one that says why.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await super.rollbackTransaction(connection);
  }
}

function configOf(database: DatabaseSync): SqliteDialectConfig {
  return {
    database: {
      close: () => database.close(),
      prepare: (text) => {
        const statement = database.prepare(text);
        // Kysely's own type for parameters is `unknown`; ours are strings, numbers and null by the tables above.
        const values = (parameters: readonly unknown[]) => parameters as (string | number | null)[];
        return {
          reader: statement.columns().length > 0,
          all: (parameters) => statement.all(...values(parameters)),
          run: (parameters) => statement.run(...values(parameters)),
          iterate: (parameters) => statement.iterate(...values(parameters)),
        };
      },
    },
  };
}

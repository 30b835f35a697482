import type { DatabaseSync } from 'node:sqlite';
import { SqliteDialect, SqliteDriver } from 'kysely';
import type { DatabaseConnection, Driver, SqliteDatabase, SqliteDialectConfig, SqliteStatement } from 'kysely';
import { translated } from './unavailable.ts';

/** Kysely's SQLite dialect over Node's own SQLite. What the machine refuses is thrown as `LedgerUnavailableError`. */
export function dialectOf(database: DatabaseSync): SqliteDialect {
  return new LedgerDialect(database);
}

class LedgerDialect extends SqliteDialect {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    super({ database: kyselyDatabase(database) });
    this.#database = database;
  }

  override createDriver(): Driver {
    return new LedgerDriver(this.#database);
  }
}

class LedgerDriver extends SqliteDriver {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    super({ database: kyselyDatabase(database) } satisfies SqliteDialectConfig);
    this.#database = database;
  }

  /**
   * When the disk is full or fails, SQLite has already rolled back (sqlite.org/lang_transaction.html, section 4). A second
   * ROLLBACK fails, and its error would hide the reason.
   */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await super.rollbackTransaction(connection);
  }
}

/** Statements that stay prepared. The ledger has about thirty; only listings by state have variants. */
const mostPrepared = 100;

/** Preparing a statement for each query took 14 to 19 % of the pipeline's time, so each text is prepared once. */
function kyselyDatabase(database: DatabaseSync): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>();
  return {
    close: () => {
      prepared.clear();
      database.close();
    },
    prepare: (text) => {
      const known = prepared.get(text);
      if (known !== undefined) return known;
      if (prepared.size >= mostPrepared) prepared.clear();
      const statement = statementOf(database, text);
      prepared.set(text, statement);
      return statement;
    },
  };
}

function statementOf(database: DatabaseSync, text: string): SqliteStatement {
  const statement = translating(() => database.prepare(text));
  // Kysely types parameters as `unknown`; by the tables of schema.ts they are strings, numbers and null.
  const values = (parameters: readonly unknown[]) => parameters as (string | number | null)[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => translating(() => statement.all(...values(parameters))),
    run: (parameters) => translating(() => statement.run(...values(parameters))),
    iterate: () => {
      throw new Error('the ledger does not stream rows');
    },
  };
}

function translating<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translated(error);
  }
}

import type { DatabaseSync } from 'node:sqlite';
import { SqliteDialect } from 'kysely';

/** Kysely's SQLite dialect over the SQLite that comes with Node. */
export function dialectOf(database: DatabaseSync): SqliteDialect {
  return new SqliteDialect({
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
  });
}

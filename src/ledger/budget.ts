import type { Kysely } from 'kysely';
import type { GroupCommit } from './group-commit.ts';
import { readRecord } from './json-record.ts';
import type { LedgerTables } from './schema.ts';

/** The requests of the last hour, as the budget keeps them: one JSON value. */
export interface BudgetRow {
  /** @returns null when nothing was saved yet, or it is damaged: then a 429 of the service says that the hour is used up */
  load(): Promise<unknown>;
  save(spent: unknown): Promise<void>;
}

export function createBudgetRow(db: Kysely<LedgerTables>, commits: GroupCommit): BudgetRow {
  return {
    load: async () => {
      const row = await db.selectFrom('budget').select('spent').executeTakeFirst();
      return row === undefined ? null : readRecord(row.spent);
    },
    save: (spent) => {
      const text = JSON.stringify(spent);
      return commits.write((sql) => sql.run('INSERT OR REPLACE INTO budget (id, spent) VALUES (1, ?)', [text]));
    },
  };
}

import type { Kysely } from 'kysely';
import type { LedgerTables } from './schema.ts';

/** The requests of the last hour, as the budget keeps them: one JSON value. */
export interface BudgetRow {
  /** @returns null when nothing was saved yet, or it is damaged: then the service says how much is left */
  load(): Promise<unknown>;
  save(spent: unknown): Promise<void>;
}

export function createBudgetRow(db: Kysely<LedgerTables>): BudgetRow {
  return {
    load: async () => {
      const row = await db.selectFrom('budget').select('spent').executeTakeFirst();
      return row === undefined ? null : parsed(row.spent);
    },
    save: async (spent) => {
      const text = JSON.stringify(spent);
      await db
        .insertInto('budget')
        .values({ id: 1, spent: text })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ spent: text }))
        .execute();
    },
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

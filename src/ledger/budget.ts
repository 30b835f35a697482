import type { Connection } from './connection.ts';
import { ask } from './work.ts';
import { readRecord } from './json-record.ts';

/** The requests of the last hour, as the budget keeps them: one JSON value. */
export interface BudgetRow {
  /** @returns null when nothing was saved yet, or it is damaged: then a 429 of the service says that the hour is used up */
  load(): Promise<unknown>;
  save(spent: unknown): Promise<void>;
}

export function createBudgetRow({ db, write }: Connection): BudgetRow {
  return {
    load: async () => {
      const row = await db.selectFrom('budget').select('spent').executeTakeFirst();
      return row === undefined ? null : readRecord(row.spent);
    },
    save: async (spent) => {
      const text = JSON.stringify(spent);
      await write(() =>
        ask('INSERT INTO budget (id, spent) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET spent = excluded.spent', [
          text,
        ]),
      );
    },
  };
}

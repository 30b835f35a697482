import type { Connection } from './connection.ts';
import { ask } from './work.ts';

/** The counter in the ledger. */
export interface CounterRow {
  load(): Promise<number>;
  /** @returns what it is then: more than it was, and more than `atLeast`. On disk when it resolves */
  advance(atLeast: number): Promise<number>;
}

export function createCounterRow({ db, write }: Pick<Connection, 'db' | 'write'>): CounterRow {
  return {
    load: async () => (await db.selectFrom('identity').select('counter').executeTakeFirstOrThrow()).counter,
    advance: (atLeast) =>
      write(function* () {
        const text =
          'UPDATE identity SET counter = CASE WHEN counter > ? THEN counter ELSE ? END + 1 WHERE id = 1 RETURNING counter';
        const [row] = yield* ask(text, [atLeast, atLeast]);
        return Number(row?.['counter']);
      }),
  };
}

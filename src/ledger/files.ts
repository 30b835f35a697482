import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { stateOf } from '../pipeline/file/facts.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { StaleRowError } from '../pipeline/file/ports.ts';
import type { FileStore } from '../pipeline/file/ports.ts';
import { noteRequests } from './leftovers.ts';
import { addHistory, allFacts, filesIn, newestFacts, rowOf, unindexedState } from './row.ts';
import type { LedgerTables } from './schema.ts';
import { createTwins } from './twins.ts';

/** The rows as the steps of a file need them. */
export function createFiles(db: Kysely<LedgerTables>): FileStore {
  return {
    load: (id) => newestFacts(filesIn(db).where('id', '=', id)),
    save: (facts, note) => save(db, facts, note),
    due: (state, now, limit) =>
      allFacts(
        state === 'retrying'
          ? filesIn(db)
              .where(unindexedState, '=', state)
              .where('not_before', '<=', now)
              .orderBy('not_before')
              .limit(limit)
          : filesIn(db).where('state', '=', state).orderBy('seq').limit(limit),
      ),
    count: async (...states) => {
      const row = await db
        .selectFrom('file')
        .select(db.fn.countAll<number>().as('n'))
        .where('state', 'in', [...states])
        .executeTakeFirst();
      return row?.n ?? 0;
    },
    ...createTwins(db),
  };
}

async function save(db: Kysely<LedgerTables>, facts: Facts, note: string | undefined): Promise<Facts> {
  const saved: Facts = { ...facts, rev: facts.rev + 1 };
  await db.transaction().execute(async (trx) => {
    const before = await trx
      .selectFrom('file')
      .select(['rev', 'state', 'intent', 'suspects'])
      .where('id', '=', facts.id)
      .executeTakeFirst();
    if (before?.rev !== facts.rev) {
      throw new StaleRowError(`file ${facts.id}: expected revision ${facts.rev}, found ${before?.rev ?? 'no row'}`);
    }
    await noteRequests(trx, { ...before, suspects: JSON.parse(before.suspects) as Facts['suspects'] }, saved);
    await trx.updateTable('file').set(rowOf(saved)).where('id', '=', facts.id).execute();
    if (before.state !== stateOf(saved) || note !== undefined) await addHistory(trx, saved, note ?? null);
  });
  // SQLite is synchronous and everything else is microtasks: many writes in a row would stop every timer and socket.
  await nextTurn();
  return saved;
}

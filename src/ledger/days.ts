import { sql } from 'kysely';
import type { Period } from '../pipeline/file/selection.ts';
import type { Connection } from './connection.ts';

/** Durations of finished files. */
export interface DurationRows {
  /** Returns the milliseconds from arrival to done, for at most 20,000 files that were done in a period. */
  doneAfter(period: Period): Promise<readonly number[]>;
}

const mostRead = 20_000;

export function createDurations({ db, words }: Connection): DurationRows {
  return {
    doneAfter: async ({ from, to }) => {
      const rows = await db
        .selectFrom('file')
        .select(sql<number>`ended_at - discovered_at`.as('ms'))
        .where('ended_at', '>=', from)
        .where('ended_at', '<', to)
        // The index on `state` would read all done rows.
        .where(sql.raw(words.unindexed('state')), '=', 'done')
        .limit(mostRead)
        .execute();
      return rows.map(({ ms }) => Math.max(0, ms));
    },
  };
}

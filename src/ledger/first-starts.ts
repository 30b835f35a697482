import { sql } from 'kysely';
import type { FirstStartStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';

/** How far the first start of each folder is. */
export function createFirstStarts({ db, words }: Pick<Connection, 'db' | 'words'>): FirstStartStore {
  return {
    firstStart: async (folder) => {
      const row = await db.selectFrom('first_start').selectAll().where('folder', '=', folder).executeTakeFirst();
      if (row === undefined) return null;
      const beganNs = row.began_ns === null ? null : BigInt(row.began_ns);
      return {
        askedNs: BigInt(row.asked_ns),
        beganNs,
        isOver: row.is_over === 1,
        ...(row.is_adopted === 1 && { isAdopted: true }),
      };
    },
    saveFirstStart: async (folder, { askedNs, beganNs, isOver, isAdopted = false }) => {
      const values = {
        asked_ns: String(askedNs),
        began_ns: beganNs === null ? null : String(beganNs),
        is_over: isOver ? 1 : 0,
        is_adopted: isAdopted ? 1 : 0,
      };
      await db
        .insertInto('first_start')
        .values({ folder, ...values })
        .onConflict((conflict) => conflict.expression(sql.raw(words.unique('folder'))).doUpdateSet(values))
        .execute();
    },
  };
}

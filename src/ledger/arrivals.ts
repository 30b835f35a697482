import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import type { IntakeStore } from '../pipeline/file/ports.ts';
import { noteRequests } from './leftovers.ts';
import { addHistory, allFacts, filesIn, newestFacts, rowOf } from './row.ts';
import type { LedgerTables } from './schema.ts';

/** Behind a `+`, which keeps SQLite off the index: thousands of files may share a size, as the parts of a recording do. */
const unindexedSize = sql<number>`+size`;

/** A file moved over another may have the older row of the two. */
const hasLeftItsPath = sql<number>`state in ('superseded', 'vanished')`;

/** Rows as the intake needs them: by path, by version, and new ones. */
export function createArrivals(db: Kysely<LedgerTables>): IntakeStore {
  return {
    insert: batched((batch) => insertAll(db, batch)),
    atPath: (folder, path) =>
      newestFacts(filesIn(db).where('folder', '=', folder).where('path', '=', path).orderBy(hasLeftItsPath)),
    atLocation: (version) =>
      newestFacts(
        filesIn(db)
          .where('ino', '=', version.ino)
          .where('birthtime_ns', '=', version.birthtimeNs)
          .where(unindexedSize, '=', version.size)
          .where('mtime_ns', '=', version.mtimeNs)
          .where('state', '!=', 'superseded'),
      ),
    pathsNamed: async (folder, stem) => {
      const paths = db.selectFrom('file').select('path').where('folder', '=', folder);
      // '/' follows '.': all that begins with the stem and a dot. Two searches, as with OR SQLite reads every path of the folder.
      const named = paths.where('path', '>=', `${stem}.`).where('path', '<', `${stem}/`);
      return (await paths.where('path', '=', stem).union(named).execute()).map(({ path }) => path);
    },
    unrouted: () => allFacts(filesIn(db).where('state', '=', 'held').where('plan', 'is', null).orderBy('seq')),
  };
}

async function insertAll(db: Kysely<LedgerTables>, batch: readonly Facts[]): Promise<void> {
  await db.transaction().execute(async (trx) => {
    for (const facts of batch) {
      await trx.insertInto('file').values(rowOf(facts)).execute();
      await noteRequests(trx, null, facts);
      await addHistory(trx, facts, facts.why ?? 'complete');
    }
  });
}

/** Rows per transaction at most: a burst of new files costs one durable write. */
const insertBatch = 500;

/** Collects what is inserted in one turn of the event loop into one transaction. */
function batched(write: (batch: readonly Facts[]) => Promise<void>): (facts: Facts) => Promise<void> {
  let pending: { facts: Facts; resolve: () => void; reject: (error: unknown) => void }[] = [];
  const flush = async (): Promise<void> => {
    const batch = pending.slice(0, insertBatch);
    pending = pending.slice(insertBatch);
    if (pending.length > 0) setImmediate(() => void flush());
    await write(batch.map(({ facts }) => facts)).then(
      () => batch.forEach(({ resolve }) => resolve()),
      (error: unknown) => batch.forEach(({ reject }) => reject(error)),
    );
  };
  return (facts) =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) setImmediate(() => void flush());
      pending.push({ facts, resolve, reject });
    });
}

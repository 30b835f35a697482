import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { IntakeStore } from '../pipeline/file/ports.ts';
import type { GroupCommit } from './group-commit.ts';
import { allFacts, filesIn, newestFacts } from './row.ts';
import type { LedgerTables } from './schema.ts';
import { insertFacts } from './write-row.ts';

/** Behind a `+`, which keeps SQLite off the index: thousands of files may share a size, as the parts of a recording do. */
const unindexedSize = sql<number>`+size`;

/** A file moved over another may have the older row of the two. */
const waitsForWhatIsBeside = sql<boolean>`(plan is null or last_failure ->> '$.kind' = 'mismatch')`;
const hasLeftItsPath = sql<number>`state in ('superseded', 'vanished')`;

/** Rows as the intake needs them: by path, by version, and new ones. */
export function createArrivals(db: Kysely<LedgerTables>, commits: GroupCommit): IntakeStore {
  return {
    insert: (facts) => commits.write((sql) => insertFacts(sql, facts)),
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
    unrouted: () => allFacts(filesIn(db).where('state', '=', 'held').where(waitsForWhatIsBeside).orderBy('seq')),
  };
}

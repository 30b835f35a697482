import { sql } from 'kysely';
import { unknownNameCodes } from '../pipeline/file/failure.ts';
import type { IntakeStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import type { GroupCommit } from './group-commit.ts';
import { preparedQuery } from './prepared-query.ts';
import { allFacts, filesIn, firstFacts } from './row.ts';
import { insertFacts } from './write-row.ts';

/** Behind a `+`, which keeps SQLite off the index: thousands of files may share a size, as the parts of a recording do. */
const unindexedSize = sql<number>`+size`;

const isUnrouted = sql<boolean>`iif(state = 'held', plan is null or last_failure ->> '$.kind' = 'mismatch',
  last_failure ->> '$.code' = ${sql.lit(unknownNameCodes.channel)})`;
/** A file moved over another may have the older row of the two. */
const hasLeftItsPath = sql<number>`state in ('superseded', 'vanished')`;

/** A limit: of rows that are sorted with the newest first, only that one. */
const newest = 1;

/** Rows as the intake needs them: by path, by version, and new ones. */
export function createArrivals({ db, sql: statements }: Connection, commits: GroupCommit): IntakeStore {
  const atPath = preparedQuery(
    statements,
    filesIn(db)
      .where('folder', '=', '')
      .where('path', '=', '')
      .orderBy(hasLeftItsPath)
      .orderBy('seq', 'desc')
      .limit(newest),
  );
  const atLocation = preparedQuery(
    statements,
    filesIn(db)
      .where('state', '!=', 'superseded')
      .where('ino', '=', '')
      .where('birthtime_ns', '=', '')
      .where(unindexedSize, '=', 0)
      .where('mtime_ns', '=', '')
      .orderBy('seq', 'desc')
      .limit(newest),
  );
  return {
    insert: (facts) => commits.write((sql) => insertFacts(sql, facts)),
    atPath: async (folder, path) => firstFacts(atPath(folder, path, newest)),
    atLocation: async ({ ino, birthtimeNs, size, mtimeNs }) =>
      firstFacts(atLocation(ino, birthtimeNs, size, mtimeNs, newest)),
    pathsNamed: async (folder, stem) => {
      const paths = db.selectFrom('file').select('path').where('folder', '=', folder);
      // '/' follows '.': all that begins with the stem and a dot. Two searches, as with OR SQLite reads every path of the folder.
      const named = paths.where('path', '>=', `${stem}.`).where('path', '<', `${stem}/`);
      return (await paths.where('path', '=', stem).union(named).execute()).map(({ path }) => path);
    },
    unrouted: () => allFacts(filesIn(db).where('state', 'in', ['held', 'retrying']).where(isUnrouted).orderBy('seq')),
  };
}

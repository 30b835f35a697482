import type { FileStore, IntakeStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { filesIn, firstFacts } from './row.ts';
import { saveFacts, insertFacts } from './write-row.ts';
import { sql } from 'kysely';
import { isSeen } from './words.ts';

/** Creates the store of file rows that pipeline steps read and write. */
export function createFiles({ db, words, prepared, write }: Connection): FileStore {
  const withId = prepared(filesIn(db).where('id', '=', ''));
  return {
    load: async (id) => firstFacts(await withId(id)),
    save: (facts, note) => write(() => saveFacts(words, facts, note), facts.id),
  };
}

/** Sort key: files that have left their path come last. A file moved over another may have the older row. */
const hasLeftItsPath = sql<number>`case when state in ('superseded', 'vanished') then 1 else 0 end`;

/** Row limit for queries sorted newest first. */
const newest = 1;

/** Finds rows by path and by version, and inserts new rows, for the intake. */
export function createArrivals({ db, words, prepared, write }: Connection): IntakeStore {
  /** The size without its index: thousands of files may share a size, like the parts of a recording. */
  const unindexedSize = sql.raw<number>(words.unindexed('size'));
  const folderKey = sql.raw<string>(words.inside.folder);
  const pathKey = sql.raw<string>(words.inside.path);
  const atPath = prepared(
    filesIn(db)
      .where(folderKey, '=', '')
      .where(pathKey, '=', '')
      .orderBy(hasLeftItsPath)
      .orderBy('seq', 'desc')
      .limit(newest),
  );
  const atLocation = prepared(
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
    insert: (facts, instead) => write(() => insertFacts(words, facts, instead ?? null)),
    atPath: async (folder, path) => firstFacts(await atPath(words.key(folder), words.key(path), newest)),
    atLocation: async ({ ino, birthtimeNs, size, mtimeNs }, seen) => {
      if (seen === undefined) return firstFacts(await atLocation(ino, birthtimeNs, size, mtimeNs, newest));
      const alike = filesIn(db)
        .where('state', '!=', 'superseded')
        .where('ino', '=', ino)
        .where('birthtime_ns', '=', birthtimeNs)
        .where(unindexedSize, '=', size)
        .where('mtime_ns', '=', mtimeNs);
      return firstFacts(await alike.where(isSeen(seen)).orderBy('seq', 'desc').limit(newest).execute());
    },
    pathsNamed: async (folder, stem) => {
      const paths = db.selectFrom('file').select('path').where(folderKey, '=', words.key(folder));
      // Matches names that begin with the stem and a dot: '/' follows '.'. There are two searches, because with OR
      // SQLite reads the whole folder.
      const named = paths.where('path', '>=', `${stem}.`).where('path', '<', `${stem}/`);
      const start = words.keyStart(`${stem}.`);
      const found = named.where(pathKey, '>=', start).where(pathKey, '<', `${start}\u{10FFFF}`);
      return (await paths.where(pathKey, '=', words.key(stem)).union(found).execute()).map(({ path }) => path);
    },
  };
}

import type { FileStore, IntakeStore } from '../pipeline/file/ports.ts';
import type { Connection } from './connection.ts';
import { filesIn, firstFacts, checksumOf, rowOf } from './row.ts';
import { sql } from 'kysely';
import { isSeen } from './words.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import type { Facts, FileState } from '../pipeline/file/facts.ts';
import { StaleRowError } from '../pipeline/file/ports.ts';
import type { AttemptFailure, Failure } from '../pipeline/file/failure.ts';
import { noteRequests } from './leftovers.ts';
import { addLast, ask } from './work.ts';
import type { StoredRow, Work } from './work.ts';
import type { SqlWords } from './words.ts';

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

type RowWords = Pick<SqlWords, 'allColumns' | 'beside' | 'forWrite' | 'kept' | 'beforeInsert'>;

/** Inserts a new file's row and first history line; see `IntakeStore.insert`. @throws {AlreadyKnownError} */
function* insertFacts(words: RowWords, given: Facts, instead: string | null): Work<void> {
  const facts = words.kept(given);
  yield* words.beforeInsert(facts, instead);
  const row = { ...rowOf(facts), ...words.beside(facts) };
  const names = Object.keys(row);
  yield* ask(
    `INSERT INTO file (${names.map(quoted).join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    Object.values(row),
  );
  yield* noteRequests(null, facts);
  yield* addHistory(facts, facts.why ?? 'complete', facts.lastFailure);
}

/**
 * Writes a row if it still has the revision in the facts; see `FileStore.save`.
 *
 * @throws {StaleRowError} if the revision differs
 */
function* saveFacts(words: RowWords, given: Facts, note: string | undefined): Work<Facts> {
  const facts = words.kept(given);
  const [before] = yield* ask(`SELECT ${words.allColumns} FROM file WHERE id = ?${words.forWrite}`, [facts.id]);
  if (before?.['rev'] !== facts.rev) {
    throw new StaleRowError(`file ${facts.id}: expected revision ${facts.rev}, found ${before?.['rev'] ?? 'no row'}`);
  }
  const saved: Facts = { ...facts, rev: facts.rev + 1 };
  yield* noteRequests(tokensOf(before), saved);
  yield* update(before, { ...rowOf(saved), ...words.beside(saved, before) });
  if (before['state'] !== stateOf(saved) || note !== undefined) {
    const isAnother = JSON.stringify(saved.lastFailure) !== before['last_failure'];
    yield* addHistory(saved, note ?? null, isAnother || standing.includes(stateOf(saved)) ? saved.lastFailure : null);
  }
  return saved;
}

/** Inserts or overwrites a row without adding a history line. */
export function* restoreFacts(words: RowWords, given: Facts): Work<void> {
  const facts = words.kept(given);
  const row = { ...rowOf(facts), ...words.beside(facts) };
  const names = Object.keys(row).map(quoted);
  yield* ask(
    `INSERT INTO file (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
      ON CONFLICT (id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    Object.values(row),
  );
}

/** States that a file is in because of its last failure. */
const standing: readonly string[] = ['retrying', 'failed', 'held', 'skipped'] satisfies FileState[];

/** Adds a line with the current state to a file's history. @param failure the failure that the line reports */
export function* addHistory(facts: Facts, note: string | null, failure: Failure | null = null): Work<void> {
  const line = { file_id: facts.id, at: Date.now(), state: stateOf(facts), note, failure: failureOf(failure) };
  yield* addLast('INSERT INTO history (file_id, at, state, note, failure, checksum) VALUES (?, ?, ?, ?, ?, ?)', [
    ...Object.values(line),
    checksumOf(line),
  ]);
}

function failureOf(failure: Failure | null): string | null {
  if (failure === null) return null;
  const { kind, code, status = null } = failure;
  return JSON.stringify({ kind, code, status } satisfies AttemptFailure);
}

/** Writes only changed columns: SQLite rewrites every index on a written column, even if the value stays the same. */
function* update(before: StoredRow, after: StoredRow): Work<void> {
  const names = Object.keys(after).filter((name) => after[name] !== before[name]);
  const values = names.map((name) => after[name] ?? null);
  yield* ask(`UPDATE file SET ${names.map((name) => `${quoted(name)} = ?`).join(', ')} WHERE seq = ?`, [
    ...values,
    before['seq'] ?? null,
  ]);
}

function tokensOf(row: StoredRow): Pick<Facts, 'intent' | 'suspects'> {
  return {
    intent: row['intent'] as Facts['intent'],
    suspects: JSON.parse(String(row['suspects'])) as Facts['suspects'],
  };
}

/** Quotes a column name: `end` is an SQL keyword. */
function quoted(name: string): string {
  return `"${name}"`;
}

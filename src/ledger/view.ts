import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Connection } from './connection.ts';
import { versionOf, allFacts, filesIn } from './row.ts';
import { posix } from 'node:path';
import { escapeControls } from '../log/unsafe-characters.ts';
import type { SqlWords } from './words.ts';

/** Queries for people and programs. */
export interface LedgerView {
  /**
   * Finds files by id, by video id, by absolute path (the newest row there), by the absolute path that files of its
   * name were moved from, by file name (the newest at each path), by the beginning of an id (at least 4 characters), or
   * by any of these as `ls` prints it, escaped and truncated. The first way that finds anything is used.
   */
  find(name: string): Promise<readonly Facts[]>;
  /** Reports every path that the watcher need not report again. If a path has several rows, the newest comes last. */
  known(folder: string, tell: (file: KnownFile) => void): Promise<void>;
  /** Returns the `after_ready: move` templates by which files in a folder were moved. */
  movedBy(folder: string): Promise<readonly string[]>;
}

export function createView(store: Connection): LedgerView {
  const { db, words } = store;
  return {
    find: (name) => findFiles(store, name),
    known: (folder, tell) => tellKnown(store, folder, tell),
    movedBy: async (folder) => {
      const rows = await db
        .selectFrom('file')
        .select('after_ready')
        .distinct()
        .where(sql.raw<string>(words.inside.folder), '=', words.key(folder))
        .where('disposal', '=', 'moved')
        .execute();
      const actions = rows.map(({ after_ready: action }) => JSON.parse(action) as Facts['afterReady']);
      return actions.flatMap((action) => (action.kind === 'move' ? [action.to] : []));
    },
  };
}

/** A file that a watcher already knows. */
export interface KnownFile {
  readonly path: string;
  readonly version: FileVersion;
  readonly state: string;
}

/**
 * See `LedgerView.known`. Reads page by page: all rows of 100,000 files together take 140 MB, which the process keeps.
 */
async function tellKnown({ db, words }: Connection, folder: string, tell: (file: KnownFile) => void): Promise<void> {
  const pathKey = sql.raw<string>(words.inside.path);
  for (let last = { path: '', seq: 0 }, size = rowsPerPage; size === rowsPerPage; await nextTurn()) {
    const rows = await db
      .selectFrom('file')
      .select(['seq', 'path', 'state', 'dev', 'ino', 'birthtime_ns', 'size', 'mtime_ns', 'ctime_ns'])
      .where(sql.raw<string>(words.inside.folder), '=', words.key(folder))
      .where(sql<boolean>`(${pathKey}, seq) > (${words.key(last.path)}, ${last.seq})`)
      .where('state', 'not in', ['vanished', 'superseded'])
      .where((eb) => eb.or([eb('disposal', 'is', null), eb('disposal', '!=', 'deleted')]))
      .orderBy(pathKey)
      .orderBy('seq')
      .limit(rowsPerPage)
      .execute();
    for (const row of rows) tell({ path: row.path, version: versionOf(row), state: row.state });
    last = rows.at(-1) ?? last;
    size = rows.length;
  }
}

/** Rows per page, which takes a few milliseconds. */
const rowsPerPage = 1_000;

/** Limit on files listed for one name. */
const mostNamed = 20;

/** Minimum length of an id prefix; shorter ones match too much. */
const leastOfId = 4;

/** Linux's PATH_MAX. */
const longestName = 4_096;

/** See `LedgerView.find`. */
async function findFiles(store: Connection, name: string): Promise<readonly Facts[]> {
  if (name.length > longestName) return [];
  const { db } = store;
  const files = filesIn(db);
  const ways = [
    files.orderBy('seq').where((eb) => eb.or([eb('id', '=', name), eb('video_id', '=', name)])),
    ...(isWholePath(name) ? byPath(store, name) : []),
    ...(name.startsWith('/') ? [] : byName(store, name)),
  ];
  for (const query of ways) {
    const found = await allFacts(query);
    if (found.length > 0) return found;
  }
  return findPrinted(store, name);
}

/** Whether a name begins with a folder: an absolute path, or the name of a place in a fleet. */
export function isWholePath(name: string): boolean {
  return /^(?:[\w.-]+:)?\//u.test(name);
}

/** Finds files by a name copied from a table, which may be truncated and escaped. */
async function findPrinted({ db, words }: Connection, name: string): Promise<readonly Facts[]> {
  const printed = printedName(name);
  if (printed === null) return [];
  const { rows } = await sql<{ readonly folder: string; readonly path: string; readonly seq: number }>`
    select folder, path, max(seq) as seq from ${sql.raw(words.by('file_path'))}
    where folder || '/' || path like ${printed.like} escape '\\' group by folder, path order by seq`.execute(db);
  const seqs = rows.filter(({ folder, path }) => printed.isOf(`${folder}/${path}`)).map(({ seq }) => seq);
  if (seqs.length > 0) return allFacts(filesIn(db).where('seq', 'in', seqs.slice(0, mostNamed)).orderBy('seq'));
  const start = name.slice(0, name.indexOf('…'));
  if (start.length < leastOfId || name !== `${start}…`) return [];
  const end = `${start}\u{10FFFF}`;
  const files = filesIn(db).orderBy('seq').limit(mostNamed);
  return allFacts(
    files.where((eb) =>
      eb.or([
        eb.and([eb('id', '>=', start), eb('id', '<', end)]),
        eb.and([eb('video_id', '>=', start), eb('video_id', '<', end)]),
      ]),
    ),
  );
}

/** Tries each `/` as the end of the watched folder, so that an index can be used. */
function byPath({ db, words }: Connection, path: string) {
  const ends = [...path.matchAll(/\//g)].map(({ index }) => index);
  const places = ends.map((end) => sql`(${words.key(path.slice(0, end))}, ${words.key(path.slice(end + 1))})`);
  const files = filesIn(db).orderBy('seq', 'desc');
  return [
    files
      .where(
        sql<boolean>`(${sql.raw(words.inside.folder)}, ${sql.raw(words.inside.path)}) in (values ${sql.join(places)})`,
      )
      .limit(1),
    files.where(wasMovedFrom(words, path)).limit(mostNamed),
  ];
}

/**
 * Matches files that were moved away from a path. Their rows have only the new path, so the condition is the old
 * folder, and the old name with or without a number.
 */
function wasMovedFrom(words: SqlWords, path: string) {
  const { name, ext } = posix.parse(path);
  return sql<boolean>`disposal = 'moved' and substr(${path}, 1, length(folder) + 1) = folder || '/'
    and ${words.isCopyOf('path', name, ext)}`;
}

function byName({ db, words }: Connection, name: string) {
  const isSame = [words.inside.folder, words.inside.path]
    .map((column) => `newer.${column} = file.${column}`)
    .join(' and ');
  const files = filesIn(db).limit(mostNamed);
  return [
    files.orderBy('seq').where(sql<boolean>`substr('/' || path, length(path) + 1 - length(${name})) = '/' || ${name}`)
      .where(sql<boolean>`not exists (
        select 1 from file newer where ${sql.raw(isSame)} and newer.seq > file.seq)`),
    ...(name.length < leastOfId
      ? []
      : [files.orderBy('id').where('id', '>=', name).where('id', '<', `${name}\u{10FFFF}`)]),
  ];
}

/** A name as a table prints it: unsafe characters are escaped, and `…` replaces a part that did not fit. */
interface PrintedName {
  /** LIKE pattern with `\` as the escape. It matches every candidate, and may match other rows. */
  readonly like: string;
  /** Whether a table prints this path as the name. @param path absolute */
  isOf(path: string): boolean;
}

/** Parses a name copied from a table. @returns null if it is neither truncated nor escaped */
export function printedName(text: string): PrintedName | null {
  if (!text.includes('…') && !text.includes('\\')) return null;
  // A relative name may begin anywhere below the folder.
  const start = text.startsWith('/') ? '' : '/';
  const pieces = `${start}${text}`.split('…');
  return {
    like: `${start === '' ? '' : '%'}${pieces.map((piece, n) => likePiece(piece, n > 0)).join('%')}`,
    isOf: (path) => {
      const printed = escapeControls(path);
      return start === '' ? isIn(printed, pieces, 0) : slashesOf(printed).some((at) => isIn(printed, pieces, at));
    },
  };
}

/**
 * Converts a piece to a LIKE pattern. Escapes become wildcards. Up to five characters after a cut may be the rest of a
 * truncated escape.
 */
function likePiece(piece: string, isCutBefore: boolean): string {
  const plain = piece.replaceAll(/\\(?:x[0-9a-f]{0,2}|u[0-9a-f]{0,4}|[nrt])?/g, '\0');
  return (isCutBefore ? plain.replace(/^[^\0]{1,5}/u, '\0') : plain)
    .replaceAll(/[%_]/g, String.raw`\$&`)
    .replaceAll('\0', '%');
}

/**
 * Whether the text from a position to its end has the pieces in order, the first at the start and the last at the end.
 */
function isIn(text: string, [first = '', ...others]: readonly string[], from: number): boolean {
  if (!text.startsWith(first, from)) return false;
  const last = others.pop();
  if (last === undefined) return text.length === from + first.length;
  let at = from + first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return text.endsWith(last) && text.length - last.length >= at;
}

function slashesOf(text: string): readonly number[] {
  return [...text.matchAll(/\//g)].map(({ index }) => index);
}

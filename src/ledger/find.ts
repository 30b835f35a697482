import { posix } from 'node:path';
import { sql } from 'kysely';
import { escapeControls } from '../log/unsafe-characters.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Connection } from './connection.ts';
import { allFacts, filesIn } from './row.ts';
import type { SqlWords } from './words.ts';

/** Limit on files listed for one name. */
const mostNamed = 20;

/** Minimum length of an id prefix; shorter ones match too much. */
const leastOfId = 4;

/** Linux's PATH_MAX. */
const longestName = 4_096;

/** See `LedgerView.find`. */
export async function findFiles(store: Connection, name: string): Promise<readonly Facts[]> {
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
export interface PrintedName {
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

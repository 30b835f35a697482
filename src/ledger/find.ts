import { posix } from 'node:path';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { printedName } from './printed-name.ts';
import { allFacts, filesIn } from './row.ts';
import type { LedgerTables } from './schema.ts';

/** Files of one name that are listed at most. */
const mostNamed = 20;

/** Shorter beginnings of an id match too much. */
const leastOfId = 4;

/** PATH_MAX of Linux. */
const longestName = 4_096;

/** See `LedgerView.find`. */
export async function findFiles(db: Kysely<LedgerTables>, name: string): Promise<readonly Facts[]> {
  if (name.length > longestName) return [];
  const files = filesIn(db);
  const ways = [
    files.where((eb) => eb.or([eb('id', '=', name), eb('video_id', '=', name)])),
    ...(name.startsWith('/') ? byPath(db, name) : byName(db, name)),
  ];
  for (const query of ways) {
    const found = await allFacts(query);
    if (found.length > 0) return found;
  }
  return findPrinted(db, name);
}

/** By what a table prints, which may be cut and escaped. */
async function findPrinted(db: Kysely<LedgerTables>, name: string): Promise<readonly Facts[]> {
  const printed = printedName(name);
  if (printed === null) return [];
  const { rows } = await sql<{ readonly folder: string; readonly path: string; readonly seq: number }>`
    select folder, path, max(seq) as seq from file indexed by file_path
    where folder || '/' || path like ${printed.like} escape '\\' group by folder, path order by seq`.execute(db);
  const seqs = rows.filter(({ folder, path }) => printed.isOf(`${folder}/${path}`)).map(({ seq }) => seq);
  if (seqs.length > 0) return allFacts(filesIn(db).where('seq', 'in', seqs.slice(0, mostNamed)));
  const start = name.slice(0, name.indexOf('…'));
  if (start.length < leastOfId || name !== `${start}…`) return [];
  const end = `${start}\u{10FFFF}`;
  const files = filesIn(db).limit(mostNamed);
  return allFacts(
    files.where((eb) =>
      eb.or([
        eb.and([eb('id', '>=', start), eb('id', '<', end)]),
        eb.and([eb('video_id', '>=', start), eb('video_id', '<', end)]),
      ]),
    ),
  );
}

/** Each `/` may be where the watched folder ends: so an index answers. */
function byPath(db: Kysely<LedgerTables>, path: string) {
  const ends = [...path.matchAll(/\//g)].map(({ index }) => index);
  const places = JSON.stringify(ends.map((end) => [path.slice(0, end), path.slice(end + 1)]));
  const files = filesIn(db).orderBy('seq', 'desc');
  return [
    files.where(sql<boolean>`(folder, path) in (select value ->> 0, value ->> 1 from json_each(${places}))`).limit(1),
    files.where(wasMovedFrom(path)).limit(mostNamed),
  ];
}

/** A row of a moved file has its new path only. What `after_ready` moved stays in its folder, and keeps its name or gets a number. */
function wasMovedFrom(path: string) {
  const { name, ext } = posix.parse(path);
  // The characters that mean something to GLOB, as themselves.
  const [stem, ending] = [name, ext].map((text) => text.replaceAll(/[*?[]/g, '[$&]'));
  return sql<boolean>`disposal = 'moved' and substr(${path}, 1, length(folder) + 1) = folder || '/'
    and ('/' || path glob ${`*/${stem}${ending}`} or '/' || path glob ${`*/${stem} ([1-9]*)${ending}`})`;
}

function byName(db: Kysely<LedgerTables>, name: string) {
  const files = filesIn(db).limit(mostNamed);
  return [
    files.where(sql<boolean>`substr('/' || path, -1 - length(${name})) = '/' || ${name}`)
      .where(sql<boolean>`not exists (
        select 1 from file newer where newer.folder = file.folder and newer.path = file.path and newer.seq > file.seq)`),
    ...(name.length < leastOfId ? [] : [files.where('id', '>=', name).where('id', '<', `${name}\u{10FFFF}`)]),
  ];
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { versionOf } from './row.ts';
import type { Connection } from './connection.ts';

/** A file that a watcher already knows. */
export interface KnownFile {
  readonly path: string;
  readonly version: FileVersion;
  readonly state: string;
}

/**
 * Tells every path of a folder that a watcher need not report again; of several rows at a path the newest comes last. Page by page:
 * the rows of 100,000 files at once take 140 MB, and the process keeps them.
 */
export async function tellKnown(
  { db, words }: Pick<Connection, 'db' | 'words'>,
  folder: string,
  tell: (file: KnownFile) => void,
): Promise<void> {
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

/** A page takes some milliseconds. */
const rowsPerPage = 1_000;

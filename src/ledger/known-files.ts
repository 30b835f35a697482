import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { versionOf } from './row.ts';
import type { LedgerTables } from './schema.ts';

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
  db: Kysely<LedgerTables>,
  folder: string,
  tell: (file: KnownFile) => void,
): Promise<void> {
  for (let last = { path: '', seq: 0 }, size = rowsPerPage; size === rowsPerPage; await nextTurn()) {
    const rows = await db
      .selectFrom('file')
      .select(['seq', 'path', 'state', 'dev', 'ino', 'birthtime_ns', 'size', 'mtime_ns', 'ctime_ns'])
      .where('folder', '=', folder)
      .where(sql<boolean>`(path, seq) > (${last.path}, ${last.seq})`)
      .where('state', 'not in', ['vanished', 'superseded'])
      .where((eb) => eb.or([eb('disposal', 'is', null), eb('disposal', '!=', 'deleted')]))
      .orderBy('path')
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

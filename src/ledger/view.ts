import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Connection } from './connection.ts';
import { findFiles } from './find.ts';
import { versionOf } from './row.ts';

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
  /** Whether any video was ever put into this channel or feed. Reads all rows, so it is only for doubtful names. */
  hasSentTo(kind: 'channel' | 'feed', name: string): Promise<boolean>;
}

export function createView(store: Connection): LedgerView {
  const { db, words } = store;
  return {
    find: (name) => findFiles(store, name),
    known: (folder, tell) => tellKnown(store, folder, tell),
    hasSentTo: async (kind, name) => {
      const isSent =
        kind === 'channel'
          ? sql<boolean>`video_id is not null and ${sql.raw(words.inside.channel)} = ${name}`
          : sql<boolean>`exists (select 1 from ${sql.raw(words.names('published'))} as feed where feed.value = ${name})`;
      return (await db.selectFrom('file').select('id').where(isSent).limit(1).executeTakeFirst()) !== undefined;
    },
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
export async function tellKnown(
  { db, words }: Connection,
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

/** Rows per page, which takes a few milliseconds. */
const rowsPerPage = 1_000;

import { lstat } from 'node:fs/promises';
import { relative } from 'node:path';
import type { FolderConfig } from '../config/config.ts';
import { versionOf } from '../pipeline/file/file-version.ts';
import { folderOf } from './folder-router.ts';
import type { Accepted } from './intake.ts';
import type { WatchedFolder } from './watched-folder.ts';

export type AddResult = { readonly ok: true; readonly as: Accepted } | { readonly ok: false; readonly why: string };

/** Takes in a file as it is now, whatever the filters and the settle time say: a person asked for it. */
export async function addFile(
  absolutePath: string,
  folders: readonly FolderConfig[],
  watched: ReadonlyMap<string, WatchedFolder>,
): Promise<AddResult> {
  const stats = await lstat(absolutePath, { bigint: true }).catch(() => null);
  if (stats === null) return refused('there is no such file');
  if (!stats.isFile()) return refused('it is not a regular file');
  const config = folderOf(folders, absolutePath);
  const folder = config === null ? undefined : watched.get(config.path);
  if (folder === undefined) return refused('it is in no watched folder');
  if (stats.size === 0n) return refused('it is empty');
  const path = relative(folder.path, absolutePath);
  const kind = folder.router.accepts(path) ?? 'media';
  if (kind === 'sidecar') return refused('it is a sidecar: add its video instead');
  const as = await folder.intake.take({ folder: folder.path, path, kind, version: versionOf(stats), flaw: null });
  return as === 'busy' ? refused('busy: a step is working on it') : { ok: true, as };
}

function refused(why: string): AddResult {
  return { ok: false, why };
}

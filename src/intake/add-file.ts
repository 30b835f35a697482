import { lstat } from 'node:fs/promises';
import { posix, relative, resolve } from 'node:path';
import type { FolderConfig } from '../config/config.ts';
import { errnoOf } from '../errno.ts';
import { NotInFolderError, inDirectory } from '../disk/held-directory.ts';
import { versionOf } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { leftAloneName } from '../watch/left-alone-names.ts';
import { folderOf } from './folder-router.ts';
import type { Accepted } from './intake.ts';
import type { WatchedFolder } from './watched-folder.ts';

export type AddResult = { readonly ok: true; readonly as: Accepted } | Refusal;

interface Refusal {
  readonly ok: false;
  readonly why: string;
}

/** Accepts a file immediately, regardless of `include` and `exclude`, because a person asked for it. */
export async function addFile(
  path: string,
  folders: readonly FolderConfig[],
  watched: ReadonlyMap<string, WatchedFolder>,
): Promise<AddResult> {
  // Resolved first, because a path such as `in/../key` leads outside the folder.
  const absolutePath = resolve(path);
  const config = folderOf(folders, absolutePath);
  const folder = config === null ? undefined : watched.get(config.path);
  if (folder === undefined) return refused('it is not in a watched folder');
  return take(folder, relative(folder.path, absolutePath));
}

async function take(folder: WatchedFolder, path: string): Promise<AddResult> {
  const leftAlone = leftAloneName(path);
  if (leftAlone !== null)
    return refused(`names like ${leftAlone.name} are left alone (${leftAlone.program}): rename it`);
  const found = await look(folder.path, path);
  if ('why' in found) return found;
  if (found.size === 0) return refused('it is empty');
  const kind = folder.router.accepts(path) ?? 'media';
  if (kind === 'proof') return refused('it is a done marker or checksum: add its video instead');
  if (kind === 'sidecar') return refused('it is a sidecar: add its video instead');
  // Reported before the row is inserted, so that the watcher notices if the file is removed before the next scan.
  folder.watcher.seen(path, found);
  const as = await folder.take({ folder: folder.path, path, kind, version: found, flaw: null }, true);
  return as === 'busy' ? refused('busy: a step is working on it') : { ok: true, as };
}

/** Opens the path segment by segment, following no links: the name of a file elsewhere must not become a title. */
async function look(folder: string, path: string): Promise<FileVersion | Refusal> {
  try {
    const directory = posix.dirname(path);
    const stats = await inDirectory({ folder, directory }, (held) =>
      lstat(held.at(posix.basename(path)), { bigint: true }),
    );
    return stats.isFile() ? versionOf(stats) : refused('it is not a regular file');
  } catch (error) {
    if (error instanceof NotInFolderError) return refused(`${error.message}; dropcast does not follow links`);
    const code = errnoOf(error);
    if (code === 'ENOENT') return refused('there is no such file');
    return refused(`it cannot be examined (${code})`);
  }
}

function refused(why: string): Refusal {
  return { ok: false, why };
}

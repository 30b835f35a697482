import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { succeeds } from '../../errno.ts';
import { checkDirectories } from '../../config/check-directories.ts';
import { checkLayout, placesOf } from '../../config/checks.ts';
import { resolvePath } from '../../config/paths.ts';
import { inspectFolders } from '../../daemon/inspect-folders.ts';
import { formatBytes } from '../output/format.ts';
import { unlessHung } from '../../unless-hung.ts';
import type { Shell } from '../shell.ts';
import type { Checked } from './service-answers.ts';

export interface FolderAnswer {
  /** Absolute path. */
  readonly path: string;
  /** False if the folder has to be created. */
  readonly isThere: boolean;
}

/** The configuration that will contain the folder. */
export interface FolderHome {
  readonly file: string;
  readonly stateDir: string;
  /**
   * Tests a folder that is closed to root, as on a share with `root_squash`. Only the service's access counts there.
   */
  isOpenToService?(path: string): Promise<boolean>;
}

/**
 * Checks whether a folder can be watched: it must be a readable directory (or one that can be created) with enough free
 * space, and not be watched by another dropcast.
 */
export async function checkFolder(text: string, home: FolderHome, shell: Shell): Promise<Checked<FolderAnswer>> {
  const typed = text.trim();
  if (typed === '') return refused('name a folder');
  const path = resolvePath(typed, `${shell.cwd}/-`, shell);
  const looked = await unlessHung(lookAt(path, home));
  return looked ?? refused(`${path} does not respond; check the server of its network share`);
}

async function lookAt(path: string, home: FolderHome): Promise<Checked<FolderAnswer>> {
  const nearest = await nearestThere(path);
  const folder = { path, isThere: nearest === path };
  if (!(await stat(nearest)).isDirectory()) return refused(`${nearest} is not a directory`);
  // Write access to an existing folder is not needed: files are moved or deleted only if after_ready says so.
  const needs = (folder.isThere ? constants.R_OK : constants.W_OK) | constants.X_OK;
  const isOpen = await succeeds(access(nearest, needs));
  const closed = isOpen ? null : await whyClosed(folder, nearest, home);
  if (closed !== null) return refused(closed);
  const free = await freeBytes(nearest);
  if (free < leastFreeBytes)
    return refused(`the disk of ${nearest} is almost full: ${formatBytes(free)} free; free some space`);
  const why = await whyNot(folder, home, isOpen);
  return why === null ? { ok: true, value: folder } : refused(why);
}

/** Why the folder cannot be used; null if the service has the access that root lacks. */
async function whyClosed(
  { path, isThere }: FolderAnswer,
  nearest: string,
  { isOpenToService }: FolderHome,
): Promise<string | null> {
  if (!isThere) return `${path} cannot be created in ${nearest}: permission denied`;
  if (isOpenToService === undefined) return `${path} cannot be read by you`;
  if (await isOpenToService(path)) return null;
  return `${path} can be read neither by root nor by the service: grant the service user access on the file server`;
}

/** Minimum free space. A disk with less cannot hold a video. */
const leastFreeBytes = 64 * 1024 * 1024;

/**
 * Returns the first finding of `dropcast check` for the folder.
 *
 * @param isOpen false if this user has no access, which proves nothing about the service
 */
async function whyNot(
  { path, isThere }: FolderAnswer,
  { file, stateDir }: FolderHome,
  isOpen: boolean,
): Promise<string | null> {
  const paths = { file, stateDir, folders: [{ key: 'folders[0]', path, afterReady: { kind: 'keep' } as const }] };
  const [layout] = checkLayout(placesOf(paths));
  if (layout !== undefined || !isThere) return layout?.message ?? null;
  const around = await checkDirectories(paths, () => ({ line: 1, column: 1 }));
  const ofFolder = around.filter(({ key }) => key.startsWith('folders'));
  const found = [...ofFolder, ...(await inspectFolders(paths))].find(
    ({ severity, message }) => severity === 'error' && (isOpen || !message.includes('(EACCES)')),
  );
  return found?.message ?? null;
}

async function nearestThere(path: string): Promise<string> {
  const isHere = path === dirname(path) || (await succeeds(stat(path)));
  return isHere ? path : nearestThere(dirname(path));
}

async function freeBytes(path: string): Promise<number> {
  const disk = await statfs(path);
  return disk.bavail * disk.bsize;
}

function refused(why: string): Checked<never> {
  return { ok: false, why };
}

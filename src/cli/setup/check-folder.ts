import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { checkDirectories } from '../../config/check-directories.ts';
import { checkLayout, placesOf } from '../../config/checks.ts';
import { resolvePath } from '../../config/paths.ts';
import { inspectFolders } from '../../daemon/inspect-folders.ts';
import { formatBytes } from '../output/format.ts';
import { unlessHung } from '../../unless-hung.ts';
import type { Shell } from '../shell.ts';
import type { Checked } from './service-answers.ts';

export interface FolderAnswer {
  /** Absolute. */
  readonly path: string;
  /** False: it has to be made. */
  readonly isThere: boolean;
}

/** The configuration that the folder will be in. */
export interface FolderHome {
  readonly file: string;
  readonly stateDir: string;
}

/** Whether a folder can be watched: it is a directory or can be made, it can be written, has room, and is no other dropcast's. */
export async function checkFolder(text: string, home: FolderHome, shell: Shell): Promise<Checked<FolderAnswer>> {
  const typed = text.trim();
  if (typed === '') return refused('name a folder');
  const path = resolvePath(typed, `${shell.cwd}/-`, shell);
  const looked = await unlessHung(lookAt(path, home));
  return looked ?? refused(`${path} does not respond; check the server of its network share`);
}

async function lookAt(path: string, home: FolderHome): Promise<Checked<FolderAnswer>> {
  const nearest = await nearestThere(path);
  const isThere = nearest === path;
  if (!(await stat(nearest)).isDirectory()) return refused(`${nearest} is not a directory`);
  const isWritable = await access(nearest, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    return refused(
      isThere ? `${path} cannot be written by you` : `${path} cannot be created in ${nearest}: permission denied`,
    );
  const free = await freeBytes(nearest);
  if (free < leastFreeBytes)
    return refused(`the disk of ${nearest} is almost full: ${formatBytes(free)} free; free some space`);
  const why = await whyNot(path, isThere, home);
  return why === null ? { ok: true, value: { path, isThere } } : refused(why);
}

/** Less holds no video. */
const leastFreeBytes = 64 * 1024 * 1024;

/** What `dropcast check` would say about it. */
async function whyNot(path: string, isThere: boolean, { file, stateDir }: FolderHome): Promise<string | null> {
  const paths = { file, stateDir, folders: [{ key: 'folders[0]', path, afterReady: { kind: 'keep' } as const }] };
  const [layout] = checkLayout(placesOf(paths));
  if (layout !== undefined || !isThere) return layout?.message ?? null;
  const around = await checkDirectories(paths, () => ({ line: 1, column: 1 }));
  const ofFolder = around.filter(({ key, severity }) => key.startsWith('folders') && severity === 'error');
  const foreign = (await inspectFolders(paths)).filter(({ severity }) => severity === 'error');
  return [...ofFolder, ...foreign][0]?.message ?? null;
}

async function nearestThere(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  return isThere || path === dirname(path) ? path : nearestThere(dirname(path));
}

async function freeBytes(path: string): Promise<number> {
  const disk = await statfs(path);
  return disk.bavail * disk.bsize;
}

function refused(why: string): Checked<never> {
  return { ok: false, why };
}

import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncPath } from '../../disk/file-system.ts';

/** Permissions of a new file: its mode, and its group if different from the writer's. */
export interface FileAccess {
  readonly mode: number;
  readonly gid?: number;
}

/**
 * Writes a file atomically, so that no reader, including systemd, sees a partial file.
 *
 * @param access defaults to world-readable, for systemd's files
 * @returns false if the file already had this text
 */
export async function installFile(path: string, text: string, access: FileAccess = { mode: 0o644 }): Promise<boolean> {
  if ((await readFile(path, 'utf8').catch(() => null)) === text) {
    // The content is unchanged, but a key must not stay readable to others.
    if (((await stat(path)).mode & 0o777 & ~access.mode) !== 0) await chmod(path, access.mode);
    return false;
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  await removeUnfinished(path);
  // The temporary name has a random suffix, which is not an extension that systemd reads.
  const partial = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    {
      // No other user may read a key, even for a moment.
      await using file = await open(partial, 'wx', access.mode & 0o600);
      if (access.gid !== undefined) await file.chown(process.geteuid?.() ?? 0, access.gid);
      // chmod(2) is not affected by the caller's umask.
      await file.chmod(access.mode);
      await file.writeFile(text);
      await file.sync();
    }
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
  await syncPath(dirname(path));
  return true;
}

/** Removes what a killed process left behind: a partial file, or a forgotten key. */
async function removeUnfinished(path: string): Promise<void> {
  const isUnfinished = (name: string): boolean =>
    name.startsWith(`${basename(path)}.`) && /^[0-9a-f]{8}$/.test(name.slice(basename(path).length + 1));
  const names = await readdir(dirname(path));
  await Promise.all(names.filter(isUnfinished).map((name) => rm(join(dirname(path), name), { force: true })));
}

import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { isOpenByMode } from '../../systemd/folder-access.ts';
import type { Allows, Credentials } from '../../systemd/folder-access.ts';

/** A share that does not respond must not block everything else. */
const timeoutMs = 10_000;

/**
 * Asks the kernel, which also evaluates access control lists: enters the directory as root, becomes the user, and
 * tries. Directories above it do not count. If root itself is refused (a read-only disk, a share), only the mode is
 * known.
 */
export const probeAccess: Allows = async (who, directory) => {
  const { path, needs } = directory;
  const isRefusedToRoot = await access(path, needs & 2 ? constants.W_OK : constants.F_OK).then(
    () => false,
    () => true,
  );
  const tests = [...(needs & 4 ? ['-r', '.', '-a'] : []), ...(needs & 2 ? ['-w', '.', '-a'] : []), '-x', '.'];
  return (isRefusedToRoot ? null : await tries(who, tests, path)) ?? isOpenByMode(who, directory);
};

/** Whether a user can read a file, including the directories above it; null when it cannot be tried. Needs root. */
export function canRead(who: Credentials, file: string): Promise<boolean | null> {
  return tries(who, ['-r', file], '/');
}

/**
 * Whether a user can list a directory and enter what it contains, whatever root may do there; null when it cannot be
 * tried. Needs root.
 */
export function openFor(who: Credentials, directory: string): Promise<boolean | null> {
  return tries(who, ['-r', directory, '-a', '-x', directory], '/');
}

/**
 * setpriv(1) exits like the program it runs, and with 127 when it cannot become that user; `test` exits with 0 or 1.
 */
async function tries({ uid, gids }: Credentials, tests: readonly string[], cwd: string): Promise<boolean | null> {
  const [gid = uid] = gids;
  const become = [`--reuid=${uid}`, `--regid=${gid}`, `--groups=${[...gids].join(',') || gid}`];
  try {
    await promisify(execFile)('setpriv', [...become, '--', 'test', ...tests], { cwd, timeout: timeoutMs });
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 1 ? false : null;
  }
}

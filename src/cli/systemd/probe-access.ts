import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';
import { succeeds } from '../../errno.ts';
import { isOpenByMode } from '../../systemd/folder-access.ts';
import type { Allows, Credentials } from '../../systemd/folder-access.ts';

/** Timeout for one probe, because an unresponsive share must not block everything else. */
const timeoutMs = 10_000;

/**
 * Tests access by trying, so that the kernel evaluates access control lists too: enters the directory as root, switches
 * to the user, and tests. Parent directories are not considered. If root itself is refused (a read-only disk, a share),
 * only the mode is used.
 */
export const probeAccess: Allows = async (who, directory) => {
  const { path, needs } = directory;
  const isRoots = await succeeds(access(path, needs & 2 ? constants.W_OK : constants.F_OK));
  const tests = [...(needs & 4 ? ['-r', '.', '-a'] : []), ...(needs & 2 ? ['-w', '.', '-a'] : []), '-x', '.'];
  return (isRoots ? await tries(who, tests, path) : null) ?? isOpenByMode(who, directory);
};

/**
 * Whether a user can read a file, including access to its parent directories; null if that cannot be tested. Needs
 * root.
 */
export function canRead(who: Credentials, file: string): Promise<boolean | null> {
  return tries(who, ['-r', file], '/');
}

/**
 * Whether a user can list and enter a directory, regardless of root's own access; null if that cannot be tested. Needs
 * root.
 */
export function openFor(who: Credentials, directory: string): Promise<boolean | null> {
  return tries(who, ['-r', directory, '-a', '-x', directory], '/');
}

/**
 * Runs tests as the user. setpriv(1) returns the exit code of the program it runs, or 127 if it cannot switch to the
 * user; `test` exits with 0 or 1.
 */
async function tries(who: Credentials, tests: readonly string[], cwd: string): Promise<boolean | null> {
  const [program = '', ...args] = asUser(who, ['test', ...tests]);
  try {
    await promisify(execFile)(program, args, { cwd, timeout: timeoutMs });
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 1 ? false : null;
  }
}

/** The command line that runs a command as a user. Needs root. */
export function asUser({ uid, gids }: Credentials, command: readonly string[]): readonly string[] {
  const [gid = uid] = gids;
  const groups = [...gids].join(',') || gid;
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, `--groups=${groups}`, '--', ...command];
}

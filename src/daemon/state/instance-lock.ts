import { join } from 'node:path';
import { isFileLocked, lockFile } from '../../ledger/file-lock.ts';
import { operatorCommand } from '../../read-permission.ts';
import { makeStateDirectory } from '../../ledger/state-directory.ts';

/** Thrown when another dropcast uses the same state directory. */
export class AlreadyRunningError extends Error {
  override readonly name = 'AlreadyRunningError';
}

/**
 * Allows one daemon per state directory, using a lock file that the kernel releases when the process dies ([why
 * there](../../docs/decisions/0028-a-folder-has-one-owner.md)). The ledger's own exclusive lock is separate: commands
 * hold it for a moment, so it cannot distinguish a daemon from a command.
 *
 * @throws {AlreadyRunningError} @throws {LedgerError}
 */
export async function lockInstance(stateDir: string): Promise<AsyncDisposable> {
  await makeStateDirectory(stateDir);
  const lock = await lockFile(lockPath(stateDir));
  if (lock === null)
    throw new AlreadyRunningError(
      `another dropcast already uses the state directory ${stateDir}: \`${operatorCommand('dropcast status')}\` shows it`,
    );
  return lock;
}

/** Whether a dropcast instance is using the state directory; also false if that cannot be determined. */
export async function isInstanceRunning(stateDir: string): Promise<boolean> {
  return isFileLocked(lockPath(stateDir));
}

function lockPath(stateDir: string): string {
  return join(stateDir, 'instance.lock');
}

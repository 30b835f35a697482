import { constants } from 'node:os';

/**
 * File system errors that Node reports without a name, as 'Unknown system error -122' (uv.h lists those with a name).
 */
const unnamed = new Map([
  [-constants.errno.EDQUOT, 'EDQUOT'],
  [-constants.errno.ESTALE, 'ESTALE'],
]);

/** Returns the errno name of a failed system call, for example `ENOENT`; otherwise the error's code or name. */
export function errnoOf(error: unknown): string {
  if (hasCode(error)) return nameOfCode(error);
  return error instanceof Error ? error.name : 'unknown';
}

/** Returns an error's code, which is an errno name if a system call failed. */
export function nameOfCode(error: Error & { readonly code: string }): string {
  return 'errno' in error ? (unnamed.get(Number(error.errno)) ?? error.code) : error.code;
}

/** Whether an error has a code. */
export function hasCode(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

const sentences: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  ENOTDIR: 'part of the path is not a directory',
  EISDIR: 'is a directory',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EIO: 'the disk or network share failed',
  ESTALE: 'the network share is gone',
  ENXIO: 'is a socket or a device',
};

/**
 * Describes a system error for people: `permission denied (EACCES)`.
 *
 * @throws the error itself if it does not come from the system: that is a bug
 */
export function errnoSentence(cause: unknown): string {
  const code = errnoOf(cause);
  if (!/^E[A-Z0-9]+$/.test(code)) throw cause;
  return `${sentences[code] ?? 'system error'} (${code})`;
}

/** Whether an operation of the file system succeeds. */
export function succeeds(operation: Promise<unknown>): Promise<boolean> {
  return operation.then(
    () => true,
    () => false,
  );
}

import { constants } from 'node:os';

/**
 * Errors of file systems that Node knows no name for: it says 'Unknown system error -122' (uv.h lists those that it
 * knows).
 */
const unnamed = new Map([
  [-constants.errno.EDQUOT, 'EDQUOT'],
  [-constants.errno.ESTALE, 'ESTALE'],
]);

/** The errno name of a failed system call, like `ENOENT`; else the code or the name of the error. */
export function errnoOf(error: unknown): string {
  if (hasCode(error)) return nameOfCode(error);
  return error instanceof Error ? error.name : 'unknown';
}

/** The code of an error, which is an errno name if a system call failed. */
export function nameOfCode(error: Error & { readonly code: string }): string {
  return 'errno' in error ? (unnamed.get(Number(error.errno)) ?? error.code) : error.code;
}

/** Whether an error has a code at all. */
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
 * The refusal of the system, for a person: `permission denied (EACCES)`.
 *
 * @throws the error itself when it does not come from the system: that is a bug
 */
export function errnoSentence(cause: unknown): string {
  const code = errnoOf(cause);
  if (!/^E[A-Z0-9]+$/.test(code)) throw cause;
  return `${sentences[code] ?? 'system error'} (${code})`;
}

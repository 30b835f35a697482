import { hasCode, nameOfCode } from '../errno-names.ts';

const SENTENCES: Readonly<Record<string, string>> = {
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

/** `ENOENT`, or `null` for an error that does not come from the system. */
export function errnoOf(cause: unknown): string | null {
  const code = hasCode(cause) ? nameOfCode(cause) : null;
  return code !== null && /^E[A-Z0-9]+$/.test(code) ? code : null;
}

/**
 * What the system refused, for a person: `permission denied (EACCES)`.
 *
 * @throws the error itself when it does not come from the system: that is a bug
 */
export function errnoSentence(cause: unknown): string {
  const code = errnoOf(cause);
  if (code === null) throw cause;
  return `${SENTENCES[code] ?? 'system error'} (${code})`;
}

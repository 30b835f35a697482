const SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'is a directory',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
  EROFS: 'the file system is read-only',
  EIO: 'the disk or network share failed',
  ESTALE: 'the network share went away',
  ENXIO: 'is a socket or a device',
};

/** `ENOENT`, or `null` for an error that does not come from the system. */
export function errnoOf(cause: unknown): string | null {
  const code: unknown = cause instanceof Error && 'code' in cause ? cause.code : null;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null;
}

/** `permission denied (EACCES)`. Anything that is no error of the system is a bug and is thrown on. */
export function errnoSentence(cause: unknown): string {
  const code = errnoOf(cause);
  if (code === null) throw cause;
  return `${SENTENCES[code] ?? 'failed'} (${code})`;
}

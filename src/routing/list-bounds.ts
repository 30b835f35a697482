/**
 * The limits for a list of checksums. A real list of 100,000 files has 7 to 12 MiB; `path` is PATH_MAX of Linux, and no
 * tool writes a longer line.
 */
export const listBounds = {
  /** Bytes of the file. */
  bytes: 16 * 1024 * 1024,
  entries: 100_000,
  /** Not counting empty ones: a record of `Format-List` has three. */
  lines: 500_000,
  /** Characters. */
  line: 8 * 1024,
  /** Characters of one XML element. */
  element: 16 * 1024,
  /** Bytes. */
  path: 4096,
  /** Different digests for one file. */
  digests: 64,
} as const;

/**
 * Thrown when a checksum file exceeds a limit or has a form that dropcast does not know. The message begins with "it".
 */
export class UnusableListError extends Error {
  override readonly name = 'UnusableListError';
}

/** @param has as in `it has a line of more than 8,192 characters`: `a line of` */
export function overBound(has: string, bound: number, unit: string): UnusableListError {
  const what = has === '' ? 'it has' : `it has ${has}`;
  return new UnusableListError(`${what} more than ${bound.toLocaleString('en')} ${unit}, which is the limit`);
}

/** @throws {UnusableListError} a path that no file of Linux can have */
export function requirePath(path: string): string {
  if (path.length > listBounds.path || Buffer.byteLength(path) > listBounds.path)
    throw overBound('a path of', listBounds.path, 'bytes');
  return path;
}

/** Parses the text of a list in pieces, and buffers at most one line or element of it. */
export interface ListReader {
  /** @throws {UnusableListError} */
  read(piece: string): void;
  /** The text has ended. @throws {UnusableListError} */
  end(): void;
}

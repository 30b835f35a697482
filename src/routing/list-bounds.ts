/**
 * Limits for a checksum list. A real list of 100,000 files takes 7 to 12 MiB. `path` is Linux's PATH_MAX, and no tool
 * writes longer lines.
 */
export const listBounds = {
  /** File size in bytes. */
  bytes: 16 * 1024 * 1024,
  entries: 100_000,
  /** Non-empty lines. A `Format-List` record has three. */
  lines: 500_000,
  /** Line length in characters. */
  line: 8 * 1024,
  /** Length of one XML element in characters. */
  element: 16 * 1024,
  /** Path length in bytes. */
  path: 4096,
  /** Different digests for one file. */
  digests: 64,
} as const;

/**
 * Thrown when a checksum file exceeds a limit or has a format that dropcast does not know. The message begins with
 * "it".
 */
export class UnusableListError extends Error {
  override readonly name = 'UnusableListError';
}

/** @param has the phrase before "more than"; `a line of` gives `it has a line of more than 8,192 characters` */
export function overBound(has: string, bound: number, unit: string): UnusableListError {
  const what = has === '' ? 'it has' : `it has ${has}`;
  return new UnusableListError(`${what} more than ${bound.toLocaleString('en')} ${unit}, which is the limit`);
}

/** @throws {UnusableListError} the path is longer than Linux allows */
export function requirePath(path: string): string {
  if (path.length > listBounds.path || Buffer.byteLength(path) > listBounds.path)
    throw overBound('a path of', listBounds.path, 'bytes');
  return path;
}

/** Parses a list that arrives in pieces. Buffers at most one line or element. */
export interface ListReader {
  /**
   * Parses the next piece of text.
   *
   * @throws {UnusableListError}
   */
  read(piece: string): void;
  /**
   * Parses what is left at the end of the text.
   *
   * @throws {UnusableListError}
   */
  end(): void;
}

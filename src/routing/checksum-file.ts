import { posix } from 'node:path';

/** Checksum algorithms that dropcast can compute. */
export type HashName = 'md5' | 'sha1' | 'sha256' | 'sha512';

export const hashNames: readonly HashName[] = ['md5', 'sha1', 'sha256', 'sha512'];

export interface ChecksumLine {
  readonly algorithm: HashName;
  /** Lower-case hex; null if the text is not a digest of this algorithm. */
  readonly digest: string | null;
  /** The file name as written; null for a digest without a name. */
  readonly name: string | null;
}

/**
 * Detects from its name what a checksum file contains: the checksum of one file, checksums of many files in its
 * directory, or a Media Hash List. Null for any other file.
 */
export function checksumFileKind(name: string): 'one' | 'many' | 'mhl' | null {
  if (LIST.test(name)) return 'many';
  if (/\.mhl$/iu.test(name)) return 'mhl';
  return ONE.test(name) ? 'one' : null;
}

const ONE = /\.(md5|sha1|sha256|sha512)$/iu;
const LIST = /^(MD5|SHA1|SHA256|SHA512)SUMS(\.txt)?$/iu;

/**
 * Whether a checksum file belongs to this video, judging by its name: `clip.mp4.sha256` or `clip.sha256` for
 * `clip.mp4`.
 */
export function isChecksumOf(checksumName: string, videoName: string): boolean {
  const name = posix.parse(checksumName).name.normalize();
  const video = videoName.normalize();
  return ONE.test(checksumName) && (name === video || name === posix.parse(video).name);
}

/** The base name in Unicode form NFC, without any directories from the sender. */
export function baseOf(name: string): string {
  return posix.basename(name.replaceAll('\\', '/')).normalize();
}

/** Whether a name in a checksum file has no directory. */
export function isWithoutDirectory(name: string): boolean {
  return !/[/\\]/u.test(name.replace(/^(?:\.[/\\])+/u, ''));
}

/** Returns the digest in lower case, or null if it is not valid for this algorithm. */
export function digestOf(algorithm: HashName, written: string): string | null {
  return written.length === digestLength[algorithm] && /^[\da-f]+$/iu.test(written) ? written.toLowerCase() : null;
}

/** Digest lengths in hexadecimal digits. */
const digestLength: Readonly<Record<HashName, number>> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };

/**
 * Limits for a checksum list. A real list of 100,000 files takes 7 to 12 MiB. `path` is Linux's PATH_MAX, and no tool
 * writes longer lines.
 */
export const listBounds = {
  bytes: 16 * 1024 * 1024,
  entries: 100_000,
  /** Non-empty lines. A `Format-List` record has three. */
  lines: 500_000,
  line: 8 * 1024,
  /** Length of one XML element in characters. */
  element: 16 * 1024,
  path: 4096,
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

import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { posix } from 'node:path';
import { FileChangedError, FileVanishedError, FileUnreadableError } from '@dropcast/client';
import { isUntouched, versionOf } from '../../pipeline/file/file-version.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';
import { UnusableListError, listBounds } from '../../routing/checksum-file.ts';
import type { ListReader } from '../../routing/checksum-file.ts';
import { openRegular } from '../accepted-file.ts';
import { errnoOf } from '../../errno.ts';
import { NotInFolderError, inDirectory } from '../held-directory.ts';
import { isRefusal } from '../../read-permission.ts';
import { failureOfMachine } from '../../pipeline/file/failure.ts';
import type { Failure } from '../../pipeline/file/failure.ts';

interface ReadList {
  readonly version: FileVersion;
  /** SHA-256 of the whole file, hex; null if reading stopped because of `unusable`. */
  readonly sha256: string | null;
  readonly unusable: UnusableListError | null;
}

/**
 * Reads a checksum file in a folder, following no links. Yields to other work between pieces.
 *
 * @param unless the version that need not be read again
 * @param reader receives the text in pieces
 * @returns null if there is no such file
 * @throws {UnreadableChecksumError} the system refuses to read it
 */
export async function readList(
  {
    folder,
    path,
    unless,
  }: { readonly folder: string; readonly path: string; readonly unless?: FileVersion | undefined },
  reader: ListReader,
): Promise<ReadList | 'as before' | null> {
  try {
    return await inDirectory({ folder, directory: posix.dirname(path) }, async (held) => {
      await using file = await openRegular(held.at(posix.basename(path)));
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile()) return null;
      const version = versionOf(stats);
      if (unless !== undefined && isUntouched(unless, version)) return 'as before';
      if (stats.size > listBounds.bytes) return { version, sha256: null, unusable: tooLarge() };
      try {
        return { version, sha256: await readPieces(file, reader), unusable: null };
      } catch (error) {
        if (error instanceof UnusableListError) return { version, sha256: null, unusable: error };
        throw error;
      }
    });
  } catch (error) {
    if (isNoFile(error)) return null;
    throw new UnreadableChecksumError(path, error);
  }
}

/** @returns the SHA-256 of the file, hex @throws {UnusableListError} and system errors */
async function readPieces(file: FileHandle, reader: ListReader): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let decoder: TextDecoder | null = null;
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, PIECE_BYTES, position);
    if (bytesRead === 0) break;
    position += bytesRead;
    // Bytes are counted, because the file may grow and a file system may report any size.
    if (position > listBounds.bytes) throw tooLarge();
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    decoder ??= new TextDecoder(encodingOf(piece));
    reader.read(decoder.decode(piece, { stream: true }));
  }
  if (decoder !== null) reader.read(decoder.decode());
  reader.end();
  return hash.digest('hex');
}

function tooLarge(): UnusableListError {
  return new UnusableListError(`it is larger than ${listBounds.bytes / 1024 / 1024} MiB`);
}

/** Size of a piece. Each blocks the event loop for at most 50 ms under the unit's flags (`docs/security.md`). */
const PIECE_BYTES = 16 * 1024;

/**
 * Detects UTF-16, which Windows PowerShell writes by default. Without a byte order mark, every second byte of ASCII
 * text is zero.
 */
function encodingOf(start: Buffer): string {
  const [first, second] = start;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be';
  return 'utf-8';
}

/** Whether the path is missing, a link, or not a regular file. */
function isNoFile(error: unknown): boolean {
  const isOther = error instanceof FileVanishedError || error instanceof FileChangedError;
  return isOther || error instanceof NotInFolderError || ['ENOENT', 'ENOTDIR'].includes(errnoOf(error));
}

/**
 * Thrown when an existing checksum file cannot be read or understood. It may cover the file to be sent and show that
 * its content is wrong.
 */
export class UnreadableChecksumError extends Error {
  override readonly name = 'UnreadableChecksumError';
  /** Path of the checksum file, or of the directory that may contain it, relative to the folder. */
  readonly path: string;
  readonly code: string;

  constructor(path: string, cause: unknown) {
    const code = cause instanceof UnusableListError ? cause.message : errnoOf(cause);
    const why = cause instanceof UnusableListError ? `cannot be used: ${code}` : `cannot be read (${code})`;
    super(`the checksum file ${path === '' ? 'of the folder' : path} ${why}`, { cause });
    this.path = path;
    this.code = code;
  }
}

/** @throws {UnreadableChecksumError} with the checksum file's path, if its content is unusable */
export function usable<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof UnusableListError ? new UnreadableChecksumError(path, error) : error;
  }
}

/**
 * Returns why a file with an unreadable checksum is not sent. If the machine is at its limits, the checksum is not to
 * blame.
 */
export function checksumFailure({ message, code, cause }: UnreadableChecksumError): Failure {
  const ofMachine = code === 'EIO' ? null : failureOfMachine(cause);
  if (ofMachine !== null) return ofMachine;
  const cure =
    cause instanceof FileUnreadableError && isRefusal(code)
      ? `remove it, or let dropcast read it: ${cause.message}`
      : cause instanceof UnusableListError
        ? 'correct it, or remove it'
        : 'copy it again, or remove it';
  return {
    kind: 'mismatch',
    code: 'checksum_unreadable',
    message: `${message}, so dropcast cannot tell whether the file is what its sender sent: ${cure}; dropcast then continues`,
  };
}

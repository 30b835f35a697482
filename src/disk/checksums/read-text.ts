import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { isUntouched, versionOf } from '../../pipeline/file/file-version.ts';
import type { FileVersion } from '../../pipeline/file/file-version.ts';
import { FileChangedError, FileVanishedError } from '@dropcast/client';
import { openRegular } from '../accepted-file.ts';
import { errnoOf } from '../errno.ts';
import { NotInFolderError, inDirectory } from '../held-directory.ts';
import { UnreadableChecksumError } from './unreadable-checksum.ts';

export interface Text {
  readonly text: string;
  /** Of what was read, hex. */
  readonly sha256: string;
  readonly version: FileVersion;
}

/**
 * Reads a small file of a folder, through no link.
 *
 * @param unless the version of which nothing is to be read again
 * @returns null when no such file is there
 * @throws {UnreadableChecksumError} there is one, and what it says is not known
 */
export async function readText(folder: string, path: string, unless?: FileVersion): Promise<Text | 'as before' | null> {
  try {
    return await inDirectory({ folder, directory: posix.dirname(path) }, async (held) => {
      await using file = await openRegular(held.at(posix.basename(path)));
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile()) return null;
      if (stats.size > MOST_BYTES) throw new Error(`larger than ${MOST_BYTES / 1024 / 1024} MiB`);
      const version = versionOf(stats);
      if (unless !== undefined && isUntouched(unless, version)) return 'as before';
      const bytes = await file.readFile();
      return { text: decoded(bytes), sha256: createHash('sha256').update(bytes).digest('hex'), version };
    });
  } catch (error) {
    if (isNoFile(error)) return null;
    throw new UnreadableChecksumError(path, error);
  }
}

/** Nothing is there, or a link, or no regular file. */
function isNoFile(error: unknown): boolean {
  const isOther = error instanceof FileVanishedError || error instanceof FileChangedError;
  return isOther || error instanceof NotInFolderError || isMissing(error);
}

export function isMissing(error: unknown): boolean {
  const code = errnoOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** A list of 50,000 files. */
const MOST_BYTES = 16 * 1024 * 1024;

/** PowerShell writes UTF-16 where nobody asks it not to. */
function decoded(bytes: Buffer): string {
  return new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes);
}

import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isUntouched, versionOf } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { containerFlaw } from './container-check.ts';
import { errnoOf } from './observation.ts';

/** What the bytes of a file at rest say. `moved`: it is not the observed one any more, look again. */
export type FileProof =
  | { readonly is: 'sound' | 'moved' }
  | { readonly is: 'flawed'; readonly flaw: string }
  | { readonly is: 'unreadable'; readonly why: string };

/**
 * Opens the file as the upload will (never through a link, never blocking on a pipe), makes sure that it is the observed one and
 * lies inside the folder, and asks its container. Never throws.
 *
 * @param folder absolute path of the watched folder, which may itself be a link
 * @param judgeContainer false for files that are no media
 */
export async function proveFile(
  folder: string,
  path: string,
  version: FileVersion,
  judgeContainer: boolean,
): Promise<FileProof> {
  try {
    if (!(await isInside(folder, path))) return { is: 'unreadable', why: 'a directory above it is a symbolic link' };
    await using file = await open(join(folder, path), READ_WITHOUT_FOLLOWING);
    if (!isUntouched(version, versionOf(await file.stat({ bigint: true })))) return { is: 'moved' };
    if (!judgeContainer) return { is: 'sound' };
    const readAt = async (position: number, length: number): Promise<Buffer> => {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    };
    const flaw = await containerFlaw(readAt, version.size);
    return flaw === null ? { is: 'sound' } : { is: 'flawed', flaw };
  } catch (error) {
    return proofOfFailure(errnoOf(error));
  }
}

const READ_WITHOUT_FOLLOWING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** A directory may have been swapped for a link since the scan walked through it. */
async function isInside(folder: string, path: string): Promise<boolean> {
  const [root, parent] = await Promise.all([realpath(folder), realpath(dirname(join(folder, path)))]);
  return parent === dirname(join(root, path));
}

/** Gone, stale or replaced by a link (ELOOP): the next look finds out. Anything else is told. */
function proofOfFailure(code: string): FileProof {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'ESTALE'].includes(code)
    ? { is: 'moved' }
    : { is: 'unreadable', why: `it cannot be read (${code})` };
}

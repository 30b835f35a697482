import { createHash } from 'node:crypto';
import { constants, readlinkSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { open, opendir, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { AbortedError, FileChangedError, FileUnreadableError, FileVanishedError, readOpenFile } from '@dropcast/client';
import type { FileReader, SeekableSource } from '@dropcast/client';
import { looksTheSame, versionOf } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Digests } from '../pipeline/file/checksums.ts';
import { isRefusal, whyClosed } from '../read-permission.ts';
import { AlsoHashing } from './also-hashing.ts';
import { errnoOf } from '../errno.ts';
import { requireWatched } from './watched-file.ts';
import type { IsWatched, Watched } from './watched-file.ts';

/** The place of an accepted file, and the version that was accepted. */
export type AcceptedFile = Watched<Pick<Facts, 'folder' | 'path' | 'version'>>;

/** A body that knows its digests once it was read completely. */
export interface UploadSource extends SeekableSource {
  digests(): Digests;
}

/**
 * The body of an upload: the accepted version, read from one descriptor and checked again before its last part leaves.
 *
 * @param isWatched called each time the body is opened, because the configuration may change between attempts
 * @param alsoHash digests to compute in addition to SHA-256
 */
export function uploadSource(
  file: Pick<Facts, 'folder' | 'path' | 'version'>,
  isWatched: IsWatched,
  alsoHash: readonly (keyof Digests)[] = [],
): UploadSource {
  const hashing = new AlsoHashing(alsoHash);
  return {
    name: join(file.folder, file.path),
    sizeBytes: file.version.size,
    openReader: async () => hashing.listenTo(await openAccepted(requireWatched(file, isWatched))),
    digests: () => hashing.digests(),
  };
}

/**
 * A digest (hex) of an accepted file, provided that its version is unchanged at the end.
 *
 * @throws as `openAccepted`, and {AbortedError} when the signal fires
 */
export async function hashAccepted(
  file: AcceptedFile,
  signal: AbortSignal,
  algorithm: keyof Digests = 'sha256',
): Promise<string> {
  await using reader = await openAccepted(file);
  // Awaited here, because the reader is closed when this function returns.
  if (algorithm !== 'sha256') return await hashOtherwise(reader, algorithm, signal);
  const sha256 = await reader.hash(signal);
  await reader.confirm(sha256, signal);
  return sha256;
}

/** `confirm` needs the SHA-256 when only the content can identify the file. */
async function hashOtherwise(reader: FileReader, algorithm: keyof Digests, signal: AbortSignal): Promise<string> {
  const hashes = [createHash(algorithm), createHash('sha256')] as const;
  const buffer = Buffer.allocUnsafeSlow(Math.min(PART_BYTES, reader.sizeBytes));
  for (let position = 0; position < reader.sizeBytes; position += PART_BYTES) {
    if (signal.aborted) throw new AbortedError('hashing', signal);
    const part = buffer.subarray(0, reader.sizeBytes - position);
    await reader.read(position, part, signal);
    for (const hash of hashes) hash.update(part);
  }
  const [digest, sha256] = hashes.map((hash) => hash.digest('hex'));
  await reader.confirm(sha256 ?? '', signal);
  return digest ?? '';
}

const PART_BYTES = 1024 * 1024;

/**
 * Opens an accepted file: through no symbolic link, only a regular file, inside its folder as the kernel reports it,
 * and exactly the accepted version. Never blocks on a FIFO.
 *
 * @throws {FileVanishedError} the path does not exist
 * @throws {FileChangedError} the path has something else
 * @throws {FileUnreadableError} it cannot be read, or it lies outside of its folder (`code` is `outside_folder`)
 */
export async function openAccepted(file: AcceptedFile): Promise<FileReader> {
  const path = pathOf(file);
  const handle = await openRegular(path);
  const reader = await readOpenFile(handle, path);
  try {
    requireVersion(reader.stats, file.version, path);
    await requireInside(handle, file.folder, path);
    return reader;
  } catch (error) {
    await reader[Symbol.asyncDispose]();
    throw error;
  }
}

/** Whether an accepted file is at its place, unchanged, and can be opened. */
export async function isReadable(
  file: Parameters<typeof requireWatched>[0] & Pick<Facts, 'version'>,
  isWatched: IsWatched,
): Promise<boolean> {
  try {
    await (await openAccepted(requireWatched(file, isWatched)))[Symbol.asyncDispose]();
    return true;
  } catch {
    return false;
  }
}

/** Whether the path is a directory that dropcast may not list or enter. Opening `.` needs both rights. */
export async function isClosed(
  directory: Parameters<typeof requireWatched>[0] & Pick<Facts, 'version'>,
  isWatched: IsWatched,
): Promise<boolean> {
  try {
    await (await opendir(`${pathOf(requireWatched(directory, isWatched))}/.`)).close();
    return false;
  } catch (error) {
    return isRefusal(errnoOf(error));
  }
}

/** Follows no link, does not wait at a FIFO, and does not make a terminal the controlling one. */
const AS_IT_IS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens a path: follows no link at its end, and reads only a regular file. @throws as `openAccepted` */
export async function openRegular(path: string): Promise<FileHandle> {
  try {
    return await open(path, AS_IT_IS);
  } catch (error) {
    const code = errnoOf(error);
    // ELOOP: a symbolic link took the place of the file. ENXIO: a socket did.
    if (code === 'ELOOP' || code === 'ENXIO') throw changed(path, 'is not a regular file');
    throw await unopened(path, code, error);
  }
}

async function unopened(path: string, code: string, cause: unknown): Promise<Error> {
  const name = JSON.stringify(path);
  if (code === 'ENOENT' || code === 'ENOTDIR') return new FileVanishedError(`${name} is gone`, { code, cause });
  if (isRefusal(code)) return new FileUnreadableError(await whyClosed(path, 'file', code), { code, cause });
  return new FileUnreadableError(`${name} cannot be read: ${code}`, { code, cause });
}

function requireVersion(stats: BigIntStats, expected: FileVersion, path: string): void {
  const now = versionOf(stats);
  if (looksTheSame(now, expected)) return;
  if (now.ino !== expected.ino || now.birthtimeNs !== expected.birthtimeNs)
    throw changed(path, 'was replaced by another file');
  throw changed(
    path,
    now.size === expected.size ? 'was written to' : `has ${now.size} bytes; ${expected.size} were accepted`,
  );
}

/** A directory in the path may have become a link. Without /proc this cannot be checked. */
async function requireInside(handle: FileHandle, folder: string, path: string): Promise<void> {
  const real = whereItIs(handle);
  // The path that was opened is plain (`requireWatched`): no part of it is a link.
  if (real === null || real === path) return;
  const root = await realpath(folder).catch(async (error: unknown) => {
    throw await unopened(path, errnoOf(error), error);
  });
  if (real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) return;
  throw new FileUnreadableError(`${JSON.stringify(path)} leads out of its watched folder`, { code: 'outside_folder' });
}

/** Reads the path from the kernel's memory, which cannot hang on a dead share. */
function whereItIs({ fd }: FileHandle): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return null;
  }
}

function changed(path: string, how: string): FileChangedError {
  return new FileChangedError(`${JSON.stringify(path)} ${how}`, { code: 'file_changed' });
}

function pathOf({ folder, path }: AcceptedFile): string {
  return join(folder, path);
}

import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { constants, readlinkSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { open, opendir, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { AbortedError, FileChangedError, FileUnreadableError, FileVanishedError, readOpenFile } from '@dropcast/client';
import type { FileReader, SeekableSource, BodyReader } from '@dropcast/client';
import { looksTheSame, versionOf } from '../pipeline/file/file-version.ts';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Digests } from '../pipeline/file/checksums.ts';
import { isRefusal, whyClosed } from '../read-permission.ts';
import { errnoOf } from '../errno.ts';
import { requireWatched } from './held-directory.ts';
import type { IsWatched, Watched } from './held-directory.ts';

/** Location of an accepted file, with the version that was accepted. */
export type AcceptedFile = Watched<Pick<Facts, 'folder' | 'path' | 'version'>>;

/** An upload body that knows its digests after it has been read completely. */
interface UploadSource extends SeekableSource {
  digests(): Digests;
}

/**
 * Creates an upload body. It reads the accepted version from one descriptor and checks it again before sending the last
 * part.
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
 * Returns a digest (hex) of an accepted file, provided that its version is still unchanged afterwards.
 *
 * @throws as `openAccepted`, and {AbortedError} when the signal is aborted
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

/** Computes another digest together with SHA-256, which `confirm` needs when only the content can identify the file. */
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
 * Opens an accepted file. It must be a regular file of exactly the accepted version, inside its folder according to the
 * kernel, and not reached through a symbolic link. Never blocks on a FIFO.
 *
 * @throws {FileVanishedError} the path does not exist
 * @throws {FileChangedError} something else is at the path
 * @throws {FileUnreadableError} the file cannot be read, or lies outside its folder (`code` is `outside_folder`)
 */
export async function openAccepted(file: AcceptedFile): Promise<FileReader> {
  const path = join(file.folder, file.path);
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

/** Whether an accepted file is still in place and unchanged, and can be opened. */
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
    const { folder, path } = requireWatched(directory, isWatched);
    await (await opendir(`${join(folder, path)}/.`)).close();
    return false;
  } catch (error) {
    return isRefusal(errnoOf(error));
  }
}

/** Flags for opening untrusted paths: never follow a link, wait for a FIFO, or acquire a controlling terminal. */
const AS_IT_IS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens a regular file without following a link in the last segment. @throws as `openAccepted` */
export async function openRegular(path: string): Promise<FileHandle> {
  try {
    return await open(path, AS_IT_IS);
  } catch (error) {
    const code = errnoOf(error);
    // ELOOP: a symbolic link replaced the file. ENXIO: a socket replaced it.
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

/**
 * Rejects a file outside its folder: a directory in its path may have become a link. Cannot be checked without /proc.
 */
async function requireInside(handle: FileHandle, folder: string, path: string): Promise<void> {
  const real = whereItIs(handle);
  // The opened path is plain (`requireWatched`), so none of its parts is a link.
  if (real === null || real === path) return;
  const root = await realpath(folder).catch(async (error: unknown) => {
    throw await unopened(path, errnoOf(error), error);
  });
  if (real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) return;
  throw new FileUnreadableError(`${JSON.stringify(path)} leads out of its watched folder`, { code: 'outside_folder' });
}

/** Reads an open file's path from kernel memory, which cannot hang on a dead share. */
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

type HashName = keyof Digests;

/** Computes digests of a file while it is being read for another purpose. */
class AlsoHashing {
  readonly #names: readonly HashName[];
  #hashes: ReadonlyMap<HashName, Hash> = new Map();
  /** Position at which the next part must begin. */
  #position = 0;
  #sizeBytes = 0;

  constructor(names: readonly HashName[]) {
    this.#names = names;
  }

  /** Returns digests of the whole file; none if it was not read in order from first to last byte. */
  digests(): Digests {
    if (this.#position !== this.#sizeBytes) return {};
    return Object.fromEntries([...this.#hashes].map(([name, hash]) => [name, hash.copy().digest('hex')]));
  }

  /** Wraps a reader to hash what it reads. A retry starts from the beginning, possibly with another reader. */
  listenTo(reader: BodyReader & { readonly sizeBytes: number }): BodyReader {
    if (this.#names.length === 0) return reader;
    this.#sizeBytes = reader.sizeBytes;
    return {
      sizeBytes: reader.sizeBytes,
      ...(reader.version !== undefined && { version: reader.version }),
      read: async (position, into, signal) => {
        await reader.read(position, into, signal);
        this.#note(position, into);
      },
      confirm: (sha256, signal) => reader.confirm(sha256, signal),
      [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
    };
  }

  #note(position: number, bytes: Buffer): void {
    if (position === 0) {
      this.#hashes = new Map(this.#names.map((name) => [name, createHash(name)]));
      this.#position = 0;
    }
    if (position !== this.#position) {
      this.#position = Number.NaN;
      return;
    }
    for (const hash of this.#hashes.values()) hash.update(bytes);
    this.#position += bytes.length;
  }
}

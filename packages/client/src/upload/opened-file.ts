import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { open, readlink, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { sep } from 'node:path';

import { partBytes } from './body-source.ts';
import type { BodySource } from './body-source.ts';
import { codeOf, FileChangedError, FileUnreadableError, FileVanishedError, throwIfAborted } from '../errors.ts';

/** Which bytes, as far as the file system tells. Nanoseconds are decimal strings: they do not fit a number. */
export interface FileVersion {
  readonly dev: string;
  readonly ino: string;
  readonly birthtimeNs: string;
  /** Bytes. */
  readonly size: number;
  readonly mtimeNs: string;
  readonly ctimeNs: string;
}

/** The one descriptor that a file is checked, read and hashed through: what happens at its path cannot change that. */
export interface OpenedFile extends BodySource, AsyncDisposable {
  /**
   * Looks at the descriptor again.
   * @returns whether the content may have been touched although size and mtime are equal (only ctime moved)
   * @throws {FileChangedError} if it is not the accepted version any more
   */
  recheck(): Promise<'same' | 'touched'>;
  /** SHA-256 of the whole file, hex. @throws {AbortedError} */
  hash(signal: AbortSignal): Promise<string>;
}

/**
 * Opens a file for sending: no symbolic link, nothing but a regular file, inside `root` by the kernel's own word, and the
 * very version that was accepted. Never blocks on a FIFO.
 *
 * @param root absolute path of the watched folder
 * @param path absolute path of the file
 * @throws {FileVanishedError} there is nothing at the path
 * @throws {FileChangedError} there is something else
 * @throws {FileUnreadableError} it may not or cannot be read, or lies outside of the folder
 */
export async function openChecked(root: string, path: string, expected: FileVersion): Promise<OpenedFile> {
  const handle = await openRegular(path);
  try {
    const opened = await stat(handle, path);
    requireVersion(opened, expected, path);
    await requireInside(handle, root, path);
    return new Opened(handle, path, expected, opened.ctimeNs);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * SHA-256 (hex) of an accepted file, from one descriptor that is still the same version at the end.
 * @throws as `openChecked`, and {AbortedError}
 */
export async function hashFile(
  root: string,
  path: string,
  expected: FileVersion,
  signal: AbortSignal,
): Promise<string> {
  throwIfAborted(signal, 'hashing');
  await using file = await openChecked(root, path, expected);
  const sha256 = await file.hash(signal);
  await file.confirm(sha256, signal);
  return sha256;
}

class Opened implements OpenedFile {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #expected: FileVersion;
  readonly #ctimeNs: bigint;

  constructor(handle: FileHandle, path: string, expected: FileVersion, ctimeNs: bigint) {
    this.#handle = handle;
    this.#path = path;
    this.#expected = expected;
    this.#ctimeNs = ctimeNs;
  }

  get size(): number {
    return this.#expected.size;
  }

  async read(position: number, into: Buffer): Promise<void> {
    let filled = 0;
    while (filled < into.length) {
      const reading = this.#handle.read(into, filled, into.length - filled, position + filled);
      const { bytesRead } = await translated(this.#path, reading);
      if (bytesRead === 0) throw changed(this.#path, `ends after ${position + filled} of ${this.size} bytes`);
      filled += bytesRead;
    }
  }

  async recheck(): Promise<'same' | 'touched'> {
    const now = await stat(this.#handle, this.#path);
    requireVersion(now, this.#expected, this.#path);
    return now.ctimeNs === this.#ctimeNs ? 'same' : 'touched';
  }

  async hash(signal: AbortSignal): Promise<string> {
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafeSlow(Math.min(partBytes, this.size));
    for (let position = 0; position < this.size; position += partBytes) {
      throwIfAborted(signal, 'hashing');
      const part = buffer.subarray(0, this.size - position);
      await this.read(position, part);
      hash.update(part);
    }
    return hash.digest('hex');
  }

  /** A tool may have put the mtime back after writing; rename and chmod look just the same. Only the content can tell. */
  async confirm(sha256: string, signal: AbortSignal): Promise<void> {
    if ((await this.recheck()) === 'touched' && (await this.hash(signal)) !== sha256) {
      throw changed(this.#path, 'was overwritten while it was read');
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }
}

/** Through no link, waiting for nobody at a FIFO, and a terminal does not become ours. */
const readOnlyAsItIs = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

async function openRegular(path: string): Promise<FileHandle> {
  try {
    return await open(path, readOnlyAsItIs);
  } catch (error) {
    // ELOOP: a symbolic link stands where the file was. ENXIO: a socket.
    if (codeOf(error) === 'ELOOP' || codeOf(error) === 'ENXIO') throw changed(path, 'is no regular file any more');
    throw translate(path, error);
  }
}

function stat(handle: FileHandle, path: string): Promise<BigIntStats> {
  return translated(path, handle.stat({ bigint: true }));
}

/** The rule of `isSameVersion` (pipeline/facts.ts), and in words where it is broken. */
function requireVersion(now: BigIntStats, expected: FileVersion, path: string): void {
  if (!now.isFile()) throw changed(path, 'is no regular file any more');
  if (String(now.ino) !== expected.ino || String(now.birthtimeNs) !== expected.birthtimeNs) {
    throw changed(path, 'was replaced by another file');
  }
  if (now.size !== BigInt(expected.size)) throw changed(path, `has ${now.size} bytes, ${expected.size} were accepted`);
  if (String(now.mtimeNs) !== expected.mtimeNs) throw changed(path, 'was written to');
}

/** Asks the kernel where the descriptor really is: a folder on the way may have become a link. Without /proc it cannot be asked. */
async function requireInside(handle: FileHandle, root: string, path: string): Promise<void> {
  const real = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null);
  if (real === null) return;
  const folder = await translated(path, realpath(root));
  const inside = folder.endsWith(sep) ? folder : `${folder}${sep}`;
  if (real.startsWith(inside)) return;
  throw new FileUnreadableError(`${JSON.stringify(path)} leads out of its watched folder`, { code: 'outside_folder' });
}

function changed(path: string, how: string): FileChangedError {
  return new FileChangedError(`${JSON.stringify(path)} ${how}`, { code: 'file_changed' });
}

async function translated<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw translate(path, error);
  }
}

function translate(path: string, error: unknown): Error {
  const code = codeOf(error) ?? 'unknown';
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new FileVanishedError(`${JSON.stringify(path)} is away`, { code, cause: error });
  }
  return new FileUnreadableError(`${JSON.stringify(path)} cannot be read: ${code}`, { code, cause: error });
}

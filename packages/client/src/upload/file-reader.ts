import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

import { codeOf, FileChangedError, FileUnreadableError, FileVanishedError, throwIfAborted } from '../errors.ts';
import type { BodyReader } from './body-reader.ts';
import { beginHash } from './hash-threads.ts';
import { partsAhead } from './parts-ahead.ts';
import { hashHere } from './running-hash.ts';
import type { RunningHash } from './running-hash.ts';

/** An open file as the body of an upload. All reads use one descriptor, so changes to the path cannot affect them. */
export interface FileReader extends BodyReader {
  /** Properties of the descriptor when the reader was created. */
  readonly stats: BigIntStats;
  /** Size of the whole file when the reader was created. */
  readonly sizeBytes: number;
  /**
   * Returns the SHA-256 of the whole file, hex.
   * @throws {AbortedError} the signal fired
   */
  hash(signal: AbortSignal): Promise<string>;
}

/**
 * Reads an open file for an upload, and verifies that its inode, size and modification time stay the same until the
 * last part is sent. Changes of mode or name are ignored.
 *
 * For programs that open files themselves, as the `openReader` of a `SeekableSource`. If you only have a path, pass it
 * to `videos.send`.
 *
 * @param handle open for reading; the reader closes it, even if this function throws
 * @param path for messages
 * @throws {FileChangedError} it is not a regular file
 * @throws {FileUnreadableError} its properties cannot be read
 */
export async function readOpenFile(handle: FileHandle, path: string): Promise<FileReader> {
  try {
    const stats = await statOf(handle, path);
    if (!stats.isFile()) throw changed(path, 'is not a regular file');
    return new OpenFile(handle, path, stats);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Exported so that an upload body can recognise files, which are hashed in a thread if large. */
export class OpenFile implements FileReader {
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly stats: BigIntStats;

  constructor(handle: FileHandle, path: string, stats: BigIntStats) {
    this.#handle = handle;
    this.#path = path;
    this.stats = stats;
  }

  get sizeBytes(): number {
    return Number(this.stats.size);
  }

  /** Contains ctime, which the kernel updates on every write, and no program can set back. */
  get version(): string {
    const { ino, birthtimeNs, size, mtimeNs, ctimeNs } = this.stats;
    return [ino, birthtimeNs, size, mtimeNs, ctimeNs].join(':');
  }

  async read(position: number, into: Buffer): Promise<void> {
    let filled = 0;
    while (filled < into.length) {
      const reading = this.#handle.read(into, filled, into.length - filled, position + filled);
      const { bytesRead } = await translated(this.#path, reading);
      if (bytesRead === 0) {
        throw changed(this.#path, `ends after ${position + filled} of ${this.stats.size} bytes`);
      }
      filled += bytesRead;
    }
  }

  async hash(signal: AbortSignal): Promise<string> {
    return (await this.#hashWith(beginHash(this.sizeBytes), signal)) ?? (await this.#hashHere(signal));
  }

  /**
   * Hashes bytes again after the thread that was hashing them died. The file is checked to be untouched since the
   * reader was created, so the bytes are the same.
   *
   * @throws {FileChangedError} the file was touched
   * @throws {AbortedError} the signal fired
   */
  async hashAgain(signal: AbortSignal): Promise<string> {
    const sha256 = await this.#hashHere(signal);
    const { ctimeNs } = await statOf(this.#handle, this.#path);
    if (ctimeNs !== this.stats.ctimeNs) throw changed(this.#path, 'was touched while it was read');
    return sha256;
  }

  #hashHere(signal: AbortSignal): Promise<string> {
    return this.#hashWith(hashHere(this.sizeBytes), signal);
  }

  async #hashWith<Digest extends string | null>(hash: RunningHash<Digest>, signal: AbortSignal): Promise<Digest> {
    using running = hash;
    const { sizeBytes } = this;
    const read = (position: number, into: Buffer): Promise<void> => this.read(position, into);
    for await (const _ of partsAhead({ sizeBytes, hash: running, read })) throwIfAborted(signal, 'hashing');
    return await running.digest();
  }

  /**
   * Compares content if the file was touched: a tool may restore the modification time after a write, which then looks
   * like a rename or chmod.
   */
  async confirm(sha256: string, signal: AbortSignal): Promise<void> {
    const now = await statOf(this.#handle, this.#path);
    if (now.size !== this.stats.size) {
      throw changed(this.#path, `has ${now.size} bytes instead of ${this.stats.size}`);
    }
    if (now.mtimeNs !== this.stats.mtimeNs) throw changed(this.#path, 'was written to');
    if (now.ctimeNs === this.stats.ctimeNs) return;
    if ((await this.hash(signal)) !== sha256) throw changed(this.#path, 'was overwritten while it was read');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }
}

/** Builds the error for a file that could not be opened or read. */
export function fileError(path: string, error: unknown): FileVanishedError | FileUnreadableError {
  const code = codeOf(error) ?? 'unknown';
  const facts = { code, cause: error };
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new FileVanishedError(`there is no file ${JSON.stringify(path)}`, facts);
  }
  return new FileUnreadableError(`${JSON.stringify(path)} cannot be read: ${code}`, facts);
}

function statOf(handle: FileHandle, path: string): Promise<BigIntStats> {
  return translated(path, handle.stat({ bigint: true }));
}

async function translated<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw fileError(path, error);
  }
}

function changed(path: string, how: string): FileChangedError {
  return new FileChangedError(`${JSON.stringify(path)} ${how}`, { code: 'file_changed' });
}

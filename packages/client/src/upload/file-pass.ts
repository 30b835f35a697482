import { beginHash } from './hash-threads.ts';
import type { BeginHash } from './hash-threads.ts';
import type { BodyReader } from './body-reader.ts';
import { OpenFile } from './file-reader.ts';
import { partsAhead } from './parts-ahead.ts';
import { hashHere } from './running-hash.ts';
import type { RunningHash } from './running-hash.ts';
import { throwIfAborted } from '../errors.ts';
import { untilAborted } from '../until-aborted.ts';

export interface FilePassOptions {
  readonly reader: BodyReader;
  readonly sizeBytes: number;
  /** Aborts every wait. */
  readonly signal: AbortSignal;
  /**
   * Starts hashing a file; default: in a thread if the file is large. Bytes of other readers are hashed in this thread,
   * because they cannot be read again if a thread dies.
   */
  readonly beginHash?: BeginHash | undefined;
  /** The last part is passed on only after this resolves, so the caller can commit durably here. */
  beforeLastPart(sha256: string): Promise<void>;
}

/**
 * One reading of a file from its first to its last byte, sent by one or more requests. Every byte is hashed, including
 * those that an earlier attempt sent, so the hash is never assumed. The last part is held back until the reader has
 * confirmed that nothing changed and the caller has committed the hash, so a changed file never arrives complete.
 */
export class FilePass implements AsyncDisposable {
  readonly #options: FilePassOptions;
  readonly #hash: RunningHash;
  readonly #parts: AsyncGenerator<Buffer, void>;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  /** Unread rest of the current part. */
  #rest: Buffer = Buffer.alloc(0);
  #position = 0;
  #sha256: string | null = null;

  constructor(options: FilePassOptions) {
    const { reader, sizeBytes, beginHash: begin = beginHash } = options;
    const signal = AbortSignal.any([options.signal, this.#stop.signal]);
    this.#options = options;
    this.#signal = signal;
    this.#hash = reader instanceof OpenFile ? begin(sizeBytes) : hashHere(sizeBytes);
    const read = (position: number, into: Buffer): Promise<void> => reader.read(position, into, signal);
    this.#parts = partsAhead({ sizeBytes, hash: this.#hash, read });
  }

  /** Number of bytes passed on or skipped. */
  get position(): number {
    return this.#position;
  }

  /** The hash, set once the last part may be sent. While it is null, this pass cannot have completed the file. */
  get sha256(): string | null {
    return this.#sha256;
  }

  /** Reads and hashes the bytes up to `end` without passing them on. */
  async skipTo(end: number): Promise<void> {
    while (this.#position < end) {
      throwIfAborted(this.#signal, 'the upload');
      await this.#take(end);
    }
  }

  /** Stops a pending read, and never releases the last part; for a request that ended before its body. */
  stop(): void {
    this.#stop.abort();
  }

  /**
   * Yields the bytes from `position` to `end`. A piece is valid until the next one is requested.
   * @param beforeCommit as for `release`
   */
  async *upTo(end: number, beforeCommit: () => Promise<void>): AsyncGenerator<Buffer, void> {
    while (this.#position < end) {
      const isLast = this.#position + (await this.#part()).length === this.#options.sizeBytes;
      if (isLast) await this.release(beforeCommit);
      yield await this.#take(end);
    }
  }

  /**
   * Confirms and commits the file, before its last part or an empty body. Later calls do nothing.
   * @param beforeCommit awaited once the hash is known
   */
  async release(beforeCommit?: () => Promise<void>): Promise<void> {
    if (this.#sha256 !== null) return;
    const { reader, beforeLastPart } = this.#options;
    const signal = this.#signal;
    const known = await untilAborted(this.#hash.digest(), signal, 'the upload');
    await beforeCommit?.();
    const sha256 = known ?? (await hashAgain(reader, signal));
    await reader.confirm(sha256, signal);
    throwIfAborted(signal, 'the upload');
    await beforeLastPart(sha256);
    throwIfAborted(signal, 'the upload');
    this.#sha256 = sha256;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.return();
    this.#hash[Symbol.dispose]();
  }

  async #part(): Promise<Buffer> {
    if (this.#rest.length > 0) return this.#rest;
    const { value } = await this.#parts.next();
    if (value === undefined) throw new Error(`the file was read beyond its ${this.#options.sizeBytes} bytes`);
    this.#rest = value;
    return value;
  }

  async #take(end: number): Promise<Buffer> {
    const part = await this.#part();
    const piece = part.subarray(0, end - this.#position);
    this.#rest = part.subarray(piece.length);
    this.#position += piece.length;
    return piece;
  }
}

/** Recomputes a hash that was lost with its thread. Only files are hashed in threads. */
function hashAgain(reader: BodyReader, signal: AbortSignal): Promise<string> {
  if (reader instanceof OpenFile) return reader.hashAgain(signal);
  throw new Error('the hash of this body is lost');
}

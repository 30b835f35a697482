import type { Readable } from 'node:stream';

import type { BodyReader } from './body-reader.ts';
import { codeOf, FileChangedError, FileUnreadableError } from '../errors.ts';
import { untilAborted } from '../until-aborted.ts';
import type { StreamSource } from '../video-client.ts';

/**
 * A stream of known length as the body of one PUT. Opens the stream for the first byte, and again if a server refuses
 * `Expect` after bytes were sent, because a stream cannot be read twice.
 */
export class StreamReader implements BodyReader {
  readonly #source: StreamSource;
  #chunks: Chunks | null = null;
  #rest: Buffer = Buffer.alloc(0);
  #isDisposed = false;

  constructor(source: StreamSource) {
    this.#source = source;
  }

  async read(position: number, into: Buffer, signal: AbortSignal): Promise<void> {
    if (position === 0) this.#close();
    for (let filled = 0; filled < into.length;) {
      const chunk = await this.#next(signal);
      if (chunk === null) throw this.#changed(`ends after ${position + filled} of ${this.#source.sizeBytes} bytes`);
      const taken = chunk.copy(into, filled);
      this.#rest = chunk.subarray(taken);
      filled += taken;
    }
  }

  async confirm(_sha256: string, signal: AbortSignal): Promise<void> {
    if ((await this.#next(signal)) !== null) throw this.#changed(`has more than ${this.#source.sizeBytes} bytes`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#close();
  }

  /** Returns the next bytes, never empty; null at the end. */
  async #next(signal: AbortSignal): Promise<Buffer | null> {
    if (this.#rest.length > 0) return this.#rest;
    for (;;) {
      const { done, value } = await this.#pull(signal);
      if (done === true) return null;
      const bytes = this.#bytesOf(value);
      if (bytes.length > 0) return bytes;
    }
  }

  async #pull(signal: AbortSignal): Promise<IteratorResult<unknown, unknown>> {
    try {
      // Stops waiting on abort, because a hanging stream may not end even when destroyed.
      const chunks = this.#chunks ?? (await untilAborted(this.#open(), signal, 'the upload'));
      return await untilAborted(chunks.next(), signal, 'the upload');
    } catch (error) {
      if (signal.aborted || error instanceof FileUnreadableError) throw error;
      const code = codeOf(error) ?? 'read_failed';
      throw new FileUnreadableError(`${JSON.stringify(this.#source.name)} cannot be read: ${code}`, {
        code,
        cause: error,
      });
    }
  }

  async #open(): Promise<Chunks> {
    const chunks = chunksOf(await this.#source.open());
    if (chunks === null) throw this.#noBytes();
    this.#chunks = chunks;
    if (this.#isDisposed) this.#close();
    return chunks;
  }

  #close(): void {
    this.#chunks?.close();
    this.#chunks = null;
    this.#rest = Buffer.alloc(0);
  }

  #bytesOf(chunk: unknown): Buffer {
    if (typeof chunk === 'string') return Buffer.from(chunk);
    if (chunk instanceof Uint8Array) return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    throw this.#noBytes();
  }

  #noBytes(): FileUnreadableError {
    return new FileUnreadableError(`${JSON.stringify(this.#source.name)} yields something other than bytes`, {
      code: 'not_bytes',
    });
  }

  #changed(how: string): FileChangedError {
    return new FileChangedError(`${JSON.stringify(this.#source.name)} ${how}`, { code: 'file_changed' });
  }
}

/** The chunks of a stream, in order. */
interface Chunks {
  next(): Promise<IteratorResult<unknown, unknown>>;
  /** Closes the stream early. */
  close(): void;
}

/** @returns null for anything that is not a stream */
function chunksOf(opened: unknown): Chunks | null {
  if (typeof opened !== 'object' || opened === null) return null;
  if (opened instanceof ReadableStream) return ofWebStream(opened);
  if (!isIterable(opened)) return null;
  return isDestroyable(opened) ? ofNodeStream(opened) : ofIterable(opened);
}

/**
 * Uses a reader, not the iterator, whose `return` waits for a hanging read and leaves the source open, perhaps a
 * download.
 */
function ofWebStream(stream: ReadableStream<unknown>): Chunks {
  const reader = stream.getReader();
  return {
    next: () => reader.read(),
    close: () => void reader.cancel().catch(() => {}),
  };
}

function ofNodeStream(stream: AsyncIterable<unknown> & Destroyable): Chunks {
  // The iterator reports errors while the stream is being read; a later one, from closing, would end the process.
  stream.on('error', () => {});
  const chunks = stream[Symbol.asyncIterator]();
  return { next: () => chunks.next(), close: () => void stream.destroy() };
}

function ofIterable(iterable: AsyncIterable<unknown>): Chunks {
  const chunks = iterable[Symbol.asyncIterator]();
  // Async wrappers: a hand-written iterator may throw, or return a value instead of a promise.
  return {
    next: async () => chunks.next(),
    // Not awaited: `return` never settles if the iterator hangs.
    close: () => void (async () => chunks.return?.())().catch(() => {}),
  };
}

function isIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value;
}

type Destroyable = Pick<Readable, 'destroy' | 'on'>;

/** Matches Node streams, and those of packages that copy them. */
function isDestroyable(value: object): value is Destroyable {
  return 'destroy' in value && typeof value.destroy === 'function' && 'on' in value && typeof value.on === 'function';
}

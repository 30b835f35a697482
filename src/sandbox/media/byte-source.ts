import { open, type FileHandle } from 'node:fs/promises';

/** A file read at any place, in small pieces. Reading past its end gives fewer bytes, never an error. */
export class ByteSource implements AsyncDisposable {
  readonly sizeBytes: number;
  readonly #handle: FileHandle;
  #window: { readonly offset: number; readonly bytes: Buffer } = { offset: 0, bytes: Buffer.alloc(0) };

  private constructor(handle: FileHandle, sizeBytes: number) {
    this.#handle = handle;
    this.sizeBytes = sizeBytes;
  }

  static async open(path: string): Promise<ByteSource> {
    const handle = await open(path, 'r');
    return new ByteSource(handle, (await handle.stat()).size);
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(length, this.sizeBytes - offset));
    const start = offset - this.#window.offset;
    if (start < 0 || start + wanted > this.#window.bytes.length)
      return (await this.#readWindow(offset, wanted)).subarray(0, wanted);
    return this.#window.bytes.subarray(start, start + wanted);
  }

  /** Headers stand close together in small files: one read serves many. */
  async #readWindow(offset: number, wanted: number): Promise<Buffer> {
    const length = Math.max(wanted, WINDOW_BYTES);
    const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(length), 0, length, offset);
    this.#window = { offset, bytes: buffer.subarray(0, bytesRead) };
    return this.#window.bytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

const WINDOW_BYTES = 4096;

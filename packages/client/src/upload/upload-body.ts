import type { Bandwidth } from './bandwidth.ts';
import { beginHash } from './begin-hash.ts';
import type { BeginHash } from './begin-hash.ts';
import type { BodyReader } from './body-reader.ts';
import { OpenFile } from './file-reader.ts';
import { partsAhead } from './parts-ahead.ts';
import { hashHere } from './running-hash.ts';
import type { RunningHash } from './running-hash.ts';
import { throwIfAborted } from '../errors.ts';
import { untilAborted } from '../until-aborted.ts';

export interface UploadBodyOptions {
  readonly reader: BodyReader;
  readonly sizeBytes: number;
  /** Ends every wait of the body. */
  readonly signal: AbortSignal;
  readonly bandwidth?: Bandwidth | undefined;
  /**
   * For files; default: a thread for large ones. Another reader's bytes are hashed here, because they cannot be read
   * again.
   */
  readonly beginHash?: BeginHash | undefined;
  /** Called with the number of bytes that the kernel has taken, and awaited. */
  onProgress(sentBytes: number): Promise<void>;
  /** Called when the client itself starts or stops holding bytes back: that is not a stall. */
  onHold(isHeld: boolean): void;
  /** The last part leaves only after this resolves: the caller commits durably here. */
  beforeLastPart(sha256: string): Promise<void>;
}

/**
 * Bytes handed to the socket at once. The next slice follows when the kernel has taken this one, so this sets the
 * slowest line that still shows progress: 256 KiB within a stall timeout of 60 s is 4 KB/s.
 */
const sliceBytes = 256 * 1024;

/** Under a bandwidth limit slices are small, so that the server sees no long silence between them. */
const limitedSliceBytes = 32 * 1024;

/**
 * The body of one PUT: the bytes in order, hashed on the way. The last part is held back until the reader has confirmed
 * that nothing changed and the caller has committed the hash, so that a changed file never arrives complete.
 */
export class UploadBody implements AsyncIterable<Buffer> {
  readonly #options: UploadBodyOptions;
  readonly #start = Promise.withResolvers<void>();
  readonly #parts: AsyncGenerator<Buffer, void>;
  #step: Promise<unknown> = Promise.resolve();
  #sha256: string | null = null;
  #failure: unknown;
  #isAnswered = false;
  #hasBegun = false;

  constructor(options: UploadBodyOptions) {
    this.#options = options;
    this.#parts = this.#produce();
  }

  /** The hash, once the last part may leave. Null: no complete body can have left. */
  get sha256(): string | null {
    return this.#sha256;
  }

  /** Whether a part of the body has left. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Why the body ended early, if it did. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Starts reading. */
  start(): void {
    this.#start.resolve();
  }

  /** The other side has already answered, so nothing further is sent, above all not the last part. */
  noteAnswer(): void {
    this.#isAnswered = true;
  }

  /** Confirms and commits an empty body: its headers alone are the whole request. */
  async releaseEmpty(): Promise<void> {
    await this.#release(hashHere(0));
  }

  /** Resolves when the body no longer uses the reader or the callbacks. */
  async settled(): Promise<void> {
    await this.#step.catch(() => {});
    await this.#parts.return();
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer, void> {
    return {
      next: () => {
        const step = this.#parts.next().catch((error: unknown) => {
          this.#failure ??= error;
          throw error;
        });
        this.#step = step;
        return step;
      },
    };
  }

  async *#produce(): AsyncGenerator<Buffer, void> {
    const { reader, sizeBytes, signal, beginHash: begin = beginHash } = this.#options;
    if (sizeBytes === 0) return;
    await untilAborted(this.#start.promise, signal, 'the upload');
    using hash = reader instanceof OpenFile ? begin(sizeBytes) : hashHere(sizeBytes);
    const read = (position: number, into: Buffer): Promise<void> => reader.read(position, into, signal);
    let position = 0;
    for await (const part of partsAhead({ sizeBytes, hash, read })) {
      if (position + part.length === sizeBytes) await this.#release(hash);
      yield* this.#slices(part, position);
      position += part.length;
    }
  }

  async *#slices(part: Buffer, position: number): AsyncGenerator<Buffer, void> {
    const { bandwidth, signal } = this.#options;
    const step = bandwidth?.isLimited === true ? limitedSliceBytes : sliceBytes;
    for (let at = 0; at < part.length; at += step) {
      const slice = part.subarray(at, at + step);
      if (bandwidth !== undefined) await this.#holding(bandwidth.take(slice.length, signal));
      await this.#stopIfAnswered();
      this.#hasBegun = true;
      yield slice;
      await untilAborted(this.#options.onProgress(position + at + slice.length), signal, 'the upload');
    }
  }

  async #release(hash: RunningHash): Promise<void> {
    const { signal } = this.#options;
    const known = await untilAborted(hash.digest(), signal, 'the upload');
    await this.#stopIfAnswered();
    await this.#holding(this.#commit(known));
  }

  async #commit(known: string | null): Promise<void> {
    const { reader, signal, beforeLastPart } = this.#options;
    const sha256 = known ?? (await hashAgain(reader, signal));
    await reader.confirm(sha256, signal);
    throwIfAborted(signal, 'the upload');
    await beforeLastPart(sha256);
    throwIfAborted(signal, 'the upload');
    this.#sha256 = sha256;
  }

  async #holding(work: Promise<void>): Promise<void> {
    this.#options.onHold(true);
    try {
      await work;
    } finally {
      this.#options.onHold(false);
    }
  }

  /** Throwing here would make got drop the answer that is just arriving, so it waits until the exchange is over. */
  async #stopIfAnswered(): Promise<void> {
    const { signal } = this.#options;
    throwIfAborted(signal, 'the upload');
    if (this.#isAnswered) await untilAborted(new Promise(() => {}), signal, 'the upload');
  }
}

/** Only files are hashed in a thread, which may die. */
function hashAgain(reader: BodyReader, signal: AbortSignal): Promise<string> {
  if (reader instanceof OpenFile) return reader.hashAgain(signal);
  throw new Error('the hash of this body is lost');
}

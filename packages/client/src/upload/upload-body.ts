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
  /** Aborts every wait of the body. */
  readonly signal: AbortSignal;
  readonly bandwidth?: Bandwidth | undefined;
  /**
   * Starts hashing a file; default: in a thread if the file is large. Bytes of other readers are hashed in this thread,
   * because they cannot be read again if a thread dies.
   */
  readonly beginHash?: BeginHash | undefined;
  /** Called with the number of bytes that the kernel has accepted; awaited. */
  onProgress(sentBytes: number): Promise<void>;
  /** Called when the client itself starts or stops holding bytes back, which is not a stall. */
  onHold(isHeld: boolean): void;
  /** The last part is sent only after this resolves, so the caller can commit durably here. */
  beforeLastPart(sha256: string): Promise<void>;
}

/**
 * Bytes passed to the socket at a time. The next slice follows when the kernel has accepted this one, so the size sets
 * the slowest rate that still counts as progress: 256 KiB within a stall timeout of 60 s is 4 KB/s.
 */
const sliceBytes = 256 * 1024;

/** Slice size under a bandwidth limit; small, so that the server sees no long silences between slices. */
const limitedSliceBytes = 32 * 1024;

/**
 * The body of one PUT: its bytes in order, hashed along the way. The last part is held back until the reader has
 * confirmed that nothing changed and the caller has committed the hash, so a changed file never arrives complete.
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

  /** The hash, set once the last part may be sent. While it is null, no complete body can have been sent. */
  get sha256(): string | null {
    return this.#sha256;
  }

  /** Whether any of the body was sent. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** The error that ended the body early, if any. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Starts reading. */
  start(): void {
    this.#start.resolve();
  }

  /** Records that the other side has already answered, so that nothing more is sent, least of all the last part. */
  noteAnswer(): void {
    this.#isAnswered = true;
  }

  /** Confirms and commits an empty body, whose headers are the whole request. */
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

  /**
   * Waits for the exchange to end once the other side has answered. Throwing would make got drop the arriving response.
   */
  async #stopIfAnswered(): Promise<void> {
    const { signal } = this.#options;
    throwIfAborted(signal, 'the upload');
    if (this.#isAnswered) await untilAborted(new Promise(() => {}), signal, 'the upload');
  }
}

/** Recomputes a hash that was lost with its thread. Only files are hashed in threads. */
function hashAgain(reader: BodyReader, signal: AbortSignal): Promise<string> {
  if (reader instanceof OpenFile) return reader.hashAgain(signal);
  throw new Error('the hash of this body is lost');
}

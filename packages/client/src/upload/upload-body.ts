import { createHash } from 'node:crypto';

import type { Bandwidth } from './bandwidth.ts';
import { partBytes } from './body-source.ts';
import type { BodySource } from './body-source.ts';
import { throwIfAborted } from '../errors.ts';
import { untilAborted } from './until-aborted.ts';

export interface UploadBodyOptions {
  readonly file: BodySource;
  /** Ends everything that the body waits for. */
  readonly signal: AbortSignal;
  readonly bandwidth?: Bandwidth | undefined;
  /** Called with the bytes that the kernel has taken. */
  onProgress(sentBytes: number): void;
  /** Called when we ourselves begin or end to hold bytes back: no stall then. */
  onHold(isHeld: boolean): void;
  /** The last part leaves only after this has resolved: the caller commits durably there. */
  beforeLastPart(sha256: string): Promise<void>;
}

/**
 * Bytes handed to the socket at once. The next piece is asked for when the kernel has taken this one, so this is how finely
 * a slow line shows that it moves: 256 KiB in a stall time of 60 s is 4 KB/s.
 */
const sliceBytes = 256 * 1024;

/** Under a bandwidth limit pieces are small, lest a server see long silences between them. */
const limitedSliceBytes = 32 * 1024;

/**
 * The body of one PUT: the file in order, hashed on the way, its last part held back until a second look at the descriptor
 * shows the same file and the caller has committed the hash (the commit gate: a changed file is never
 * complete on the other side).
 */
export class UploadBody implements AsyncIterable<Buffer> {
  readonly #options: UploadBodyOptions;
  readonly #hash = createHash('sha256');
  readonly #start = Promise.withResolvers<void>();
  readonly #parts: AsyncGenerator<Buffer, void>;
  #step: Promise<unknown> = Promise.resolve();
  #sha256: string | null = null;
  #failure: unknown;
  #isAnswered = false;

  constructor(options: UploadBodyOptions) {
    this.#options = options;
    this.#parts = this.#produce();
  }

  /** The hash, once the last part was released. Null: no complete body can have left. */
  get sha256(): string | null {
    return this.#sha256;
  }

  /** Why it broke off, if it did by itself. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Nothing is read before this is called. */
  start(): void {
    this.#start.resolve();
  }

  /** The other side has answered already: nothing more is sent, and above all not the last part. */
  noteAnswer(): void {
    this.#isAnswered = true;
  }

  /** The commit gate of an empty file, whose headers alone are the whole request. */
  async releaseEmpty(): Promise<void> {
    await this.#passGate(this.#hash.digest('hex'));
  }

  /** Resolves when nothing of the body uses the descriptor or the caller's callback any more. */
  async settled(): Promise<void> {
    await this.#step.catch(() => {});
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
    const { file, signal } = this.#options;
    if (file.size === 0) return;
    await untilAborted(this.#start.promise, signal, 'the upload');
    // One buffer for all parts: the next one is read when the kernel has taken all of this one.
    const buffer = Buffer.allocUnsafeSlow(Math.min(partBytes, file.size));
    const lastAt = file.size - buffer.length;
    for (let at = 0; at < lastAt; at += buffer.length) {
      const part = buffer.subarray(0, lastAt - at);
      await file.read(at, part, signal);
      this.#hash.update(part);
      yield* this.#slices(part, at);
    }
    await file.read(lastAt, buffer, signal);
    await this.#passGate(this.#hash.update(buffer).digest('hex'));
    yield* this.#slices(buffer, lastAt);
  }

  async *#slices(part: Buffer, position: number): AsyncGenerator<Buffer, void> {
    const { bandwidth, signal } = this.#options;
    const step = bandwidth?.isLimited === true ? limitedSliceBytes : sliceBytes;
    for (let at = 0; at < part.length; at += step) {
      const slice = part.subarray(at, at + step);
      if (bandwidth !== undefined) await this.#holding(bandwidth.take(slice.length, signal));
      await this.#stopIfAnswered();
      yield slice;
      this.#options.onProgress(position + at + slice.length);
    }
  }

  async #passGate(sha256: string): Promise<void> {
    await this.#stopIfAnswered();
    await this.#holding(this.#commit(sha256));
    this.#sha256 = sha256;
  }

  async #commit(sha256: string): Promise<void> {
    const { file, signal, beforeLastPart } = this.#options;
    await file.confirm(sha256, signal);
    throwIfAborted(signal, 'the upload');
    await beforeLastPart(sha256);
    throwIfAborted(signal, 'the upload');
  }

  async #holding(work: Promise<void>): Promise<void> {
    this.#options.onHold(true);
    try {
      await work;
    } finally {
      this.#options.onHold(false);
    }
  }

  /** Throwing here would make the library drop the answer that is just arriving: wait until the exchange is over. */
  async #stopIfAnswered(): Promise<void> {
    const { signal } = this.#options;
    throwIfAborted(signal, 'the upload');
    if (this.#isAnswered) await untilAborted(new Promise(() => {}), signal, 'the upload');
  }
}

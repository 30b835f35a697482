import type { Bandwidth } from './bandwidth.ts';
import type { FilePass } from './file-pass.ts';
import { throwIfAborted } from '../errors.ts';
import { untilAborted } from '../until-aborted.ts';

export interface UploadBodyOptions {
  /** Pass over the file; the body begins at its position. */
  readonly pass: FilePass;
  /** Position in the file at which the body ends. */
  readonly end: number;
  /** Aborts every wait of the body. */
  readonly signal: AbortSignal;
  readonly bandwidth?: Bandwidth | undefined;
  /** Called before the bytes up to this position are passed to the kernel; awaited unless null. */
  beforeBytes(upTo: number): Promise<void> | null;
  /** Called with the position in the file up to which the kernel has accepted the bytes; awaited. */
  onProgress(sentBytes: number): Promise<void>;
  /** Called when the client itself starts or stops holding bytes back, which is not a stall. */
  onHold(isHeld: boolean): void;
}

/**
 * Bytes passed to the socket at a time. The next slice follows when the kernel has accepted this one, so the size sets
 * the slowest rate that still counts as progress: 256 KiB within a stall timeout of 60 s is 4 KB/s.
 */
const sliceBytes = 256 * 1024;

/** Slice size under a bandwidth limit; small, so that the server sees no long silences between slices. */
const limitedSliceBytes = 32 * 1024;

/** The body of one request: the bytes of a file from the position of its pass up to `end`. */
export class UploadBody implements AsyncIterable<Buffer> {
  readonly #options: UploadBodyOptions;
  readonly #start = Promise.withResolvers<void>();
  readonly #slices: AsyncGenerator<Buffer, void>;
  #step: Promise<unknown> = Promise.resolve();
  #failure: unknown;
  #isAnswered = false;
  #hasBegun = false;

  constructor(options: UploadBodyOptions) {
    this.#options = options;
    this.#slices = this.#produce();
  }

  /** Whether the pass was used, so that another request would not send the same bytes. */
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
    await this.#holding(this.#options.pass.release());
  }

  /** Resolves when the body no longer uses the pass or the callbacks. Its signal has fired. */
  async settled(): Promise<void> {
    const { pass, end } = this.#options;
    // A read may hang.
    if (this.#hasBegun && pass.position < end) pass.stop();
    await this.#step.catch(() => {});
    await this.#slices.return();
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer, void> {
    return {
      next: () => {
        const step = this.#slices.next().catch((error: unknown) => {
          this.#failure ??= error;
          throw error;
        });
        this.#step = step;
        return step;
      },
    };
  }

  async *#produce(): AsyncGenerator<Buffer, void> {
    const { pass, end, bandwidth, signal, beforeBytes, onProgress } = this.#options;
    await untilAborted(this.#start.promise, signal, 'the upload');
    this.#hasBegun = true;
    const step = bandwidth?.isLimited === true ? limitedSliceBytes : sliceBytes;
    let position = pass.position;
    for await (const piece of pass.upTo(end, () => this.#beforeCommit())) {
      // The pass may have held the piece back while the file was confirmed and committed.
      this.#options.onHold(false);
      for (let at = 0; at < piece.length; at += step) {
        const slice = piece.subarray(at, at + step);
        if (bandwidth !== undefined) await this.#holding(bandwidth.take(slice.length, signal));
        position += slice.length;
        const committing = beforeBytes(position);
        if (committing !== null) await this.#holding(committing);
        await this.#stopIfAnswered();
        yield slice;
        await untilAborted(onProgress(position), signal, 'the upload');
      }
    }
  }

  async #beforeCommit(): Promise<void> {
    await this.#stopIfAnswered();
    this.#options.onHold(true);
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

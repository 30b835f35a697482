import { UploadStalledError } from '../errors.ts';

/**
 * Fires if no bytes are sent for too long, or if the response to a complete body does not arrive. Cannot be armed again
 * after disposal: a ten-minute timer once kept a finished program alive.
 */
export class StallWatch implements Disposable {
  readonly #origin: string;
  readonly #onStall: () => void;
  #timer: NodeJS.Timeout | undefined;
  #error: UploadStalledError | null = null;
  #isOver = false;

  /** @param origin of the upload address; the rest must not be shown */
  constructor(origin: string, onStall: () => void) {
    this.#origin = origin;
    this.#onStall = onStall;
  }

  /** The stall error, set once the watch has fired. */
  get error(): UploadStalledError | null {
    return this.#error;
  }

  sending(ms: number): void {
    this.#arm(ms, 'upload_stalled', `the upload to ${this.#origin} did not move for ${seconds(ms)}`);
  }

  awaitingAnswer(ms: number): void {
    this.#arm(ms, 'no_answer', `${this.#origin} took the whole file but did not answer within ${seconds(ms)}`);
  }

  /** Stops the clock while the client itself is holding bytes back. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #arm(ms: number, code: string, message: string): void {
    clearTimeout(this.#timer);
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      this.#error = new UploadStalledError(message, { code });
      this.#onStall();
    }, ms);
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

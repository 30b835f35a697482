import { AbortedError } from '../errors.ts';

/** One limit shared by all uploads that use it, even across clients. */
export interface Bandwidth {
  /** Whether a limit is currently set. */
  readonly isLimited: boolean;
  /**
   * Resolves when this many bytes may be sent.
   * @throws {AbortedError} the signal fired
   */
  take(bytes: number, signal?: AbortSignal): Promise<void>;
  /**
   * Changes the limit immediately, even for running uploads.
   * @param bytesPerSecond more than 0; `null` is unlimited
   * @throws {TypeError} any other value
   */
  set(bytesPerSecond: number | null): void;
}

/**
 * Creates a bandwidth limit for the `bandwidth` option of one or more clients.
 *
 * @param bytesPerSecond more than 0; `null` is unlimited
 * @throws {TypeError} any other value
 */
export function createBandwidth(bytesPerSecond: number | null): Bandwidth {
  return new DueTimeLimiter(bytesPerSecond);
}

interface Turn {
  readonly bytes: number;
  go(): void;
}

const creditMs = 50;
const longestSleepMs = 60_000;

/**
 * Limits the rate with a due time instead of a bucket: each piece advances it by the piece's own duration. Up to 50 ms
 * of credit compensates for late timers (measured: 9.7 of 10 MB/s without, 10.0 with). Uploads take turns, since each
 * queues at most one piece.
 */
class DueTimeLimiter implements Bandwidth {
  readonly #queue = new Set<Turn>();
  #rate: number | null = null;
  #dueAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(bytesPerSecond: number | null) {
    this.set(bytesPerSecond);
  }

  get isLimited(): boolean {
    return this.#rate !== null;
  }

  take(bytes: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(new AbortedError('waiting for bandwidth', signal));
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#queue.delete(turn);
        signal?.removeEventListener('abort', abort);
      };
      const turn: Turn = { bytes, go: () => (leave(), resolve()) };
      const abort = () => (leave(), reject(new AbortedError('waiting for bandwidth', signal)), this.#serve());
      signal?.addEventListener('abort', abort, { once: true });
      this.#queue.add(turn);
      this.#serve();
    });
  }

  set(bytesPerSecond: number | null): void {
    if (bytesPerSecond !== null && !(bytesPerSecond > 0))
      throw new TypeError(`bytesPerSecond must be more than 0, or null, not ${bytesPerSecond}`);
    const now = performance.now();
    const debtBytes = ((this.#rate ?? 0) * Math.max(0, this.#dueAt - now)) / 1000;
    this.#rate = bytesPerSecond;
    this.#dueAt = bytesPerSecond === null ? 0 : now + (debtBytes / bytesPerSecond) * 1000;
    this.#serve();
  }

  #serve(): void {
    clearTimeout(this.#timer);
    for (const turn of this.#queue) {
      const now = performance.now();
      if (this.#rate !== null) {
        if (this.#dueAt > now) return this.#sleep(this.#dueAt - now);
        this.#dueAt = Math.max(this.#dueAt, now - creditMs) + (turn.bytes / this.#rate) * 1000;
      }
      turn.go();
    }
  }

  #sleep(ms: number): void {
    this.#timer = setTimeout(() => this.#serve(), Math.min(ms, longestSleepMs));
  }
}

import type { IncomingMessage } from 'node:http';

/**
 * Sits between the connection and the reader of the request body, and passes only as many bytes as allowed. While bytes
 * are held back, the connection is not read, so the client notices. Must be created before the first byte arrives, in
 * the same turn as the 'request' event. Hooks into `push` and `_read`, where Node's HTTP parser and a reader meet,
 * since a separate stream would not be an IncomingMessage.
 */
export class BodyValve {
  readonly #request: IncomingMessage;
  readonly #push: IncomingMessage['push'];
  readonly #read: IncomingMessage['_read'];
  readonly #held: Buffer[] = [];
  #allowedBytes = 0;
  #hasEnded = false;
  #isReadAhead = false;
  #isWanted = false;
  /** Called when all allowed bytes have passed. */
  onSpent: () => void = () => undefined;

  /** @param request with an unread body; nothing passes until `allow` is called */
  constructor(request: IncomingMessage) {
    this.#request = request;
    this.#push = request.push.bind(request);
    // oxlint-disable-next-line no-underscore-dangle -- Node's own name for the reader's demand
    this.#read = request._read.bind(request);
    request.push = (chunk: Buffer | null) => this.#take(chunk);
    // oxlint-disable-next-line no-underscore-dangle -- as above
    request._read = (size) => this.#wanted(size);
  }

  /** Whether all allowed bytes have passed. */
  get isSpent(): boolean {
    return this.#allowedBytes === 0;
  }

  /** @param bytes in addition to those already allowed; Infinity for the whole body */
  allow(bytes: number): void {
    this.#allowedBytes += bytes;
    this.#flow();
  }

  /**
   * Reads ahead without passing any bytes. @returns the whole body; undefined if it is longer than `mostBytes` or was
   * cut off
   */
  async peek(mostBytes: number): Promise<Buffer | undefined> {
    this.#isReadAhead = true;
    const hasArrived = () => this.#hasEnded || this.#request.destroyed || this.#heldBytes() > mostBytes;
    await new Promise<void>((resolve) => {
      this.#onArrival = () => hasArrived() && resolve();
      this.#request.once('close', resolve);
      this.#onArrival();
    });
    this.#isReadAhead = false;
    return this.#hasEnded && this.#heldBytes() <= mostBytes ? Buffer.concat(this.#held) : undefined;
  }

  #onArrival: () => void = () => undefined;

  #heldBytes(): number {
    return this.#held.reduce((sum, chunk) => sum + chunk.length, 0);
  }

  #take(chunk: Buffer | null): boolean {
    if (chunk === null) this.#hasEnded = true;
    else this.#held.push(chunk);
    this.#onArrival();
    return this.#flow() || this.#isReadAhead;
  }

  /** @returns whether the reader wants more and nothing is held back */
  #flow(): boolean {
    let doesWantMore = true;
    while (this.#allowedBytes > 0) {
      const chunk = this.#held.shift();
      if (!chunk) break;
      const passed = chunk.subarray(0, Math.min(chunk.length, this.#allowedBytes));
      if (passed.length < chunk.length) this.#held.unshift(chunk.subarray(passed.length));
      this.#allowedBytes -= passed.length;
      doesWantMore = this.#push(passed);
      if (this.#allowedBytes === 0) this.onSpent();
    }
    if (this.#held.length > 0) return false;
    if (this.#hasEnded) return this.#end();
    if (this.#isWanted) this.#wanted(0);
    return doesWantMore && this.#allowedBytes > 0;
  }

  #end(): boolean {
    this.#hasEnded = false;
    return this.#push(null);
  }

  #wanted(size: number): void {
    this.#isWanted = this.#held.length > 0 || this.#allowedBytes === 0;
    if (!this.#isWanted) this.#read(size);
  }
}

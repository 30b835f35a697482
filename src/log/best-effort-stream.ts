import { Writable } from 'node:stream';

/**
 * Passes finished lines to a stream that it never ends, one write at a time. When that stream breaks (the reader of the pipe has
 * gone, the disk is full), lines are lost and nothing else: the program's work is worth more than its log. Every line tries again,
 * because a full disk may be cleared.
 */
export class BestEffortStream extends Writable {
  readonly #target: NodeJS.WritableStream;

  constructor(target: NodeJS.WritableStream) {
    // Lines stay strings, so that they can be joined into one write.
    super({ decodeStrings: false });
    this.#target = target;
    // Without a listener, EPIPE and ENOSPC would end the process. It stays attached: a write may fail after the log is closed.
    target.on('error', ignore);
  }

  override _write(line: string, _encoding: BufferEncoding, done: () => void): void {
    this.#forward(line, done);
  }

  override _writev(lines: readonly { readonly chunk: string }[], done: () => void): void {
    this.#forward(lines.map(({ chunk }) => chunk).join(''), done);
  }

  #forward(text: string, done: () => void): void {
    try {
      // Called once the kernel has the lines or the write has failed: both are done.
      this.#target.write(text, () => done());
    } catch {
      done();
    }
  }
}

function ignore(): void {}

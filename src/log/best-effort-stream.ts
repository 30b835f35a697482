import { Writable } from 'node:stream';

/**
 * Passes finished lines on to a stream that is not ours to end, one write under way at a time. A broken stream (the reader of the
 * pipe is gone, the disk is full) loses lines and nothing else: the program's work is worth more than its log. It is tried again with
 * every line, because a full disk is emptied some day.
 */
export class BestEffortStream extends Writable {
  readonly #target: NodeJS.WritableStream;

  constructor(target: NodeJS.WritableStream) {
    // Lines stay strings: they are joined into one write.
    super({ decodeStrings: false });
    this.#target = target;
    // Without a listener EPIPE and ENOSPC would end the process. It stays: a write may fail after the log is closed.
    target.on('error', ignore);
  }

  override _write(line: string, _encoding: BufferEncoding, done: () => void): void {
    this.#pass(line, done);
  }

  override _writev(lines: readonly { readonly chunk: string }[], done: () => void): void {
    this.#pass(lines.map(({ chunk }) => chunk).join(''), done);
  }

  #pass(text: string, done: () => void): void {
    try {
      // The callback comes once the lines are with the kernel, or failed, which is all the same here.
      this.#target.write(text, () => done());
    } catch {
      done();
    }
  }
}

function ignore(): void {}

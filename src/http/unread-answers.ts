import type { ServerResponse } from 'node:http';

/**
 * Answers that were made and not read yet. They are in memory, so all of a listener together may have a number of bytes: beyond it, the
 * connections that have waited longest are destroyed, except for that of the newest answer.
 */
export class UnreadAnswers {
  readonly #mostBytes: number;
  readonly #unread = new Set<ServerResponse>();

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** @param answer whose last byte was written, to wherever it went */
  add(answer: ServerResponse): void {
    if (answer.writableFinished || answer.destroyed) return;
    this.#unread.add(answer);
    answer.once('close', () => this.#unread.delete(answer));
    let bytes = 0;
    for (const { writableLength } of this.#unread) bytes += writableLength;
    for (const oldest of this.#unread) {
      if (bytes <= this.#mostBytes || oldest === answer) return;
      bytes -= oldest.writableLength;
      oldest.destroy();
    }
  }
}

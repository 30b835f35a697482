import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';

/** What was seen of a body that passed. */
export interface CapturedBody {
  readonly bytes: number;
  /** Of all bytes that passed, hex. */
  readonly sha256: string;
  /** Its beginning, if that is UTF-8. */
  readonly text: string | undefined;
  /** `text` is all of it. */
  readonly isWhole: boolean;
}

/** Bytes that are kept of a body. */
const mostKept = 1024 * 1024;

/** Watches a body that passes, without holding it up, and keeps its beginning. */
export class BodyCapture {
  readonly #hash = createHash('sha256');
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  #bytes = 0;

  /** @param stream whose data is taken by somebody else */
  watch(stream: Readable): void {
    stream.on('data', (chunk: Buffer) => this.note(chunk));
  }

  note(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#hash.update(chunk);
    const room = mostKept - this.#keptBytes;
    if (room <= 0) return;
    const part = chunk.subarray(0, room);
    this.#kept.push(Buffer.from(part));
    this.#keptBytes += part.length;
  }

  end(): CapturedBody {
    const isWhole = this.#bytes === this.#keptBytes;
    return {
      bytes: this.#bytes,
      sha256: this.#hash.digest('hex'),
      text: textOf(Buffer.concat(this.#kept), isWhole),
      isWhole,
    };
  }
}

function textOf(bytes: Buffer, isWhole: boolean): string | undefined {
  try {
    // The end of a cut text may be half a character.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
  } catch {
    return undefined;
  }
}

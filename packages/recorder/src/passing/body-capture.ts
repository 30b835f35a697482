import { createHash } from 'node:crypto';

/** What is recorded of a body that passed through. */
export interface CapturedBody {
  readonly bytes: number;
  /** SHA-256 of all bytes, in hex. */
  readonly sha256: string;
  /** The whole text, if it is UTF-8 without NUL and not too long. */
  readonly text: string | undefined;
}

/** Size of the largest body kept in memory, in bytes. A page of 100 videos is about 100 KiB. */
export const mostHeld = 4 * 1024 * 1024;

/** Captures a body as it passes through, without delaying it. */
export class BodyCapture {
  readonly #hash = createHash('sha256');
  #kept: Buffer[] = [];
  #bytes = 0;
  #seen: CapturedBody | undefined;

  note(chunk: Buffer): void {
    if (this.#seen !== undefined) return;
    this.#bytes += chunk.length;
    this.#hash.update(chunk);
    if (this.#bytes <= mostHeld) this.#kept.push(chunk);
    else this.#kept = [];
  }

  /** Returns what was captured up to the first call; later bytes are ignored. */
  end(): CapturedBody {
    this.#seen ??= {
      bytes: this.#bytes,
      sha256: this.#hash.digest('hex'),
      text: this.#bytes <= mostHeld ? textOf(Buffer.concat(this.#kept)) : undefined,
    };
    this.#kept = [];
    return this.#seen;
  }
}

function textOf(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

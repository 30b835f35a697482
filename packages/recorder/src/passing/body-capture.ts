import { createHash } from 'node:crypto';

/** What was seen of a body that passed. */
export interface CapturedBody {
  readonly bytes: number;
  /** Of all bytes that passed, hex. */
  readonly sha256: string;
  /** All of it, where that is UTF-8 without a NUL, and not too long. */
  readonly text: string | undefined;
}

/** Bytes of a body that are held in memory. A page of 100 videos has about 100 KiB. */
export const mostHeld = 4 * 1024 * 1024;

/** Notes a body that passes, without holding it up. */
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

  /** What has passed until the first call; later bytes do not count. */
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

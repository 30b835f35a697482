/** Bytes kept of a text body: enough for a list of 100 videos. */
export const MOST_TEXT_BYTES = 64 * 1024;

/** Bytes kept of any other body: enough to recognise a container format. */
const MOST_OTHER_BYTES = 32;

/** The beginning of a body, collected as it passes through. Of media, only the first bytes are copied. */
export class RecordedBody {
  readonly #chunks: Buffer[] = [];
  #keptBytes = 0;
  #sizeBytes = 0;
  #isComplete = false;
  #isText = false;

  /** Number of bytes that have passed through. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Number of bytes that are kept. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Whether the body has a text type. */
  get isText(): boolean {
    return this.#isText;
  }

  /** Returns the kept beginning of the body. */
  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  take(chunk: Uint8Array, isText: boolean): void {
    this.#sizeBytes += chunk.length;
    this.#isText = isText;
    const room = (isText ? MOST_TEXT_BYTES : MOST_OTHER_BYTES) - this.#keptBytes;
    if (room <= 0 || chunk.length === 0) return;
    const part = Buffer.from(chunk.subarray(0, room)); // a copy: the slice would keep its whole read buffer alive
    this.#chunks.push(part);
    this.#keptBytes += part.length;
  }

  end(): void {
    this.#isComplete = true;
  }
}

/**
 * Returns whether a body of this type is worth reading. A body without a type counts as text: the API refuses such
 * bodies, and users want to see why.
 */
export function isTextType(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') return false;
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === '' || /^text\/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded)$/.test(type);
}

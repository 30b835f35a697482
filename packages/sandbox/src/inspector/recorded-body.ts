/** How much of a text is kept: enough for a list of 100 videos. */
export const MOST_TEXT_BYTES = 64 * 1024;

/** How much of anything else is kept: enough to recognise a container. */
const MOST_OTHER_BYTES = 32;

/** The beginning of a body, collected while it passes by. Media is not copied beyond its first bytes. */
export class RecordedBody {
  readonly #chunks: Buffer[] = [];
  #keptBytes = 0;
  #sizeBytes = 0;
  #isComplete = false;
  #isText = false;

  /** How much has passed. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** How much of it is kept. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Whether its type is that of a text. */
  get isText(): boolean {
    return this.#isText;
  }

  /** The kept beginning. */
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
 * Whether a body of this type is worth reading. Without a type it may be: the API refuses such bodies, and one wants to
 * see why.
 */
export function isTextType(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') return false;
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return type === '' || /^text\/|[/+](json|xml|yaml|javascript|x-www-form-urlencoded)$/.test(type);
}

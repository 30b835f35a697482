import { createHash } from 'node:crypto';

import { partBytes } from './body-reader.ts';

/** SHA-256 of bytes that come piece by piece. */
export interface RunningHash<Digest extends string | null = string | null> extends Disposable {
  /** The buffer for pieces: one whole part or several, or less for a smaller source. */
  readonly memory: Buffer;
  /** @param piece of `memory`; its place may be used again when this resolves */
  update(piece: Buffer): Promise<void>;
  /** Hex; null when the thread that knew it has died. */
  digest(): Promise<Digest>;
}

/** Hashes in the thread that calls, while the next part is read. */
export function hashHere(sizeBytes: number): RunningHash<string> {
  const hash = createHash('sha256');
  return {
    // Zeroed: a reader that fills less than it was asked for must not send what was in memory before.
    memory: Buffer.alloc(sizeBytes > partBytes ? 2 * partBytes : sizeBytes),
    update: async (piece) => void hash.update(piece),
    digest: async () => hash.digest('hex'),
    [Symbol.dispose]: () => {},
  };
}

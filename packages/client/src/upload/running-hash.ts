import { createHash } from 'node:crypto';

import { partBytes } from './body-reader.ts';

/** SHA-256 of bytes that arrive piece by piece. */
export interface RunningHash<Digest extends string | null = string | null> extends Disposable {
  /** Buffer for the pieces: one or more whole parts, or less for a smaller source. */
  readonly memory: Buffer;
  /** @param piece a slice of `memory`, which may be overwritten once this resolves */
  update(piece: Buffer): Promise<void>;
  /** Returns the hash, hex; null if the thread that was computing it has died. */
  digest(): Promise<Digest>;
}

/** Hashes in the calling thread while the next part is being read. */
export function hashHere(sizeBytes: number): RunningHash<string> {
  const hash = createHash('sha256');
  return {
    // Zeroed, so that a reader that fills less than requested cannot send leftover memory.
    memory: Buffer.alloc(sizeBytes > partBytes ? 2 * partBytes : sizeBytes),
    update: async (piece) => void hash.update(piece),
    digest: async () => hash.digest('hex'),
    [Symbol.dispose]: () => {},
  };
}

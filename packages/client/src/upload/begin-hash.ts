import { hashThreads } from './hash-threads.ts';
import { hashHere } from './running-hash.ts';
import type { RunningHash } from './running-hash.ts';

/** Begins the hash of a file. */
export type BeginHash = (sizeBytes: number) => RunningHash;

/** A smaller file is hashed before a thread has started. */
const leastBytesForThread = 16 * 1024 * 1024;

/** In a thread if the file is large and one is available, otherwise in the calling thread. */
export const beginHash: BeginHash = (sizeBytes) =>
  (sizeBytes < leastBytesForThread ? null : hashThreads.begin()) ?? hashHere(sizeBytes);

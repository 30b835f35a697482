import { hashThreads } from './hash-threads.ts';
import { hashHere } from './running-hash.ts';
import type { RunningHash } from './running-hash.ts';

/** Starts hashing a file. */
export type BeginHash = (sizeBytes: number) => RunningHash;

/** Minimum file size for a thread. A smaller file is hashed before a thread has started. */
const leastBytesForThread = 16 * 1024 * 1024;

/** Hashes large files in a thread if one is available, and anything else in the calling thread. */
export const beginHash: BeginHash = (sizeBytes) =>
  (sizeBytes < leastBytesForThread ? null : hashThreads.begin()) ?? hashHere(sizeBytes);

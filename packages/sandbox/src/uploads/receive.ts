import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface ArrivedFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface ReceivedFile extends ArrivedFile {
  /** The first bytes, up to 1 KiB. */
  readonly head: Buffer;
}

/**
 * Streams a body to a new file in the folder and hashes it along the way. Once this resolves, the bytes are on disk. An
 * interrupted body leaves nothing behind. @throws errors of the source or the disk
 */
export async function receiveFile(source: Readable, folder: string): Promise<ReceivedFile> {
  const path = join(folder, randomUUID());
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let head: Buffer = Buffer.alloc(0);
  // A listener beside the pipe needs no copy and no extra stream, and the pipe's back-pressure applies to it too.
  source.on('data', (chunk: Buffer) => {
    hash.update(chunk);
    sizeBytes += chunk.length;
    if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
  });
  try {
    await pipeline(
      source,
      createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: WRITE_AHEAD_BYTES, flush: true }),
    );
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return { path, sizeBytes, sha256: hash.digest('hex'), head };
}

export const HEAD_BYTES = 1024;

/** Write buffer. Chunks that queue up during a write leave together in one writev. */
const WRITE_AHEAD_BYTES = 4 * 1024 * 1024;

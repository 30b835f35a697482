import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { durationOf, endOf } from '@dropcast/media';
import type { ReadAt } from '@dropcast/media';
import { mediaInfoFactory } from 'mediainfo.js';
import { adtsSeconds } from './adts.ts';
import type { MediaReport } from './media-report.ts';

/**
 * The thread's answers: for each path, MediaInfo's report or the reason there is none. A separate thread is needed
 * because the parser is one synchronous call into WASM. Only terminating the thread can interrupt that call, and the
 * service must keep answering.
 */
export type ThreadAnswer =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'report'; readonly report: MediaReport }
  | { readonly kind: 'error'; readonly message: string };

// Limit for files that consist entirely of bytes that look like the start of a format (0xFF, 0x47), which would
// otherwise be read to the end. Real formats stay far below: the parser reads 135 MB of a 1 GB transport stream, 180 MB
// of an FLV, 1 MB of an MP4.
const MAX_BYTES_READ = 256 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const HEAD_BYTES = 12;

const mediaInfo = await mediaInfoFactory({ format: 'object', chunkSize: CHUNK_BYTES });
parentPort?.on('message', (path: string) => void answer(path));
tell({ kind: 'loaded' });

async function answer(path: string): Promise<void> {
  try {
    tell({ kind: 'report', report: await reportOf(path) });
  } catch (error) {
    tell({ kind: 'error', message: error instanceof Error ? error.message : String(error) });
  }
}

async function reportOf(path: string): Promise<MediaReport> {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const readAt: ReadAt = async (position, length) => Buffer.from(read(file, length, position));
    const { end: stated, flaw } = await endOf(readAt, size);
    // Some tools leave stray bytes after a complete container, which MediaInfo would mistake for the beginning of a
    // box, chunk or packet.
    const end = stated ?? size;
    let readBytes = 0;
    const result = await mediaInfo.analyzeData(end, (wantedBytes, offset) => {
      const length = Math.max(0, Math.min(wantedBytes, end - offset));
      const bytes = readBytes < MAX_BYTES_READ ? read(file, length, offset) : NOTHING;
      readBytes += bytes.length;
      return bytes;
    });
    const tracks = result.media?.track ?? [];
    const isAdts = tracks[0]?.Format === 'ADTS';
    const durationS = isAdts ? adtsSeconds((length, at) => read(file, length, at)) : await durationOf(readAt, size);
    return { tracks, head: read(file, HEAD_BYTES, 0), flaw, durationS };
  } finally {
    closeSync(file);
  }
}

const NOTHING = new Uint8Array(0);

function read(file: number, length: number, offset: number): Uint8Array {
  const bytes = new Uint8Array(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
}

function tell(message: ThreadAnswer): void {
  // oxlint-disable-next-line require-post-message-target-origin -- a thread is not a window and has no origin
  parentPort?.postMessage(message);
}

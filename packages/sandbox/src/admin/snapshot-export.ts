import { createHash, randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../clock.ts';
import { ApiError } from '../http/api-error.ts';
import { isoTime } from '../http/wire.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { copyDatabase, SCHEMA_VERSION } from '../store/database.ts';
import type { MediaFiles } from '../store/media-files.ts';
import type { Records } from '../store/records.ts';
import { readSequences, rowsOf, tableNames } from '../store/tables.ts';
import type { StoredFile } from '../store/videos.ts';

export interface ExportParts {
  readonly records: Records;
  readonly mediaFiles: MediaFiles;
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
}

/**
 * Streams the document as of one moment while the service continues. The records are copied first (0.5 s for 800,000
 * plays), then read from the copy as the client consumes them. `backup` of node:sqlite would not block at all, but
 * fails as soon as something is written. A cancelled stream leaves nothing behind.
 * @throws ApiError 409 the files are too many for one document, or the disk's error if there is no room for the copy
 */
export async function exportStream(parts: ExportParts, isWithMedia: boolean): Promise<ReadableStream> {
  parts.lifecycle.advance();
  if (isWithMedia) requireFewFiles(parts.records.videos.files());
  const pieces = documentPieces(parts, isWithMedia);
  const first = await pieces.next(); // makes the copy
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(first.value ?? '')),
    pull: async (controller) => {
      const { value } = await pieces.next();
      if (value === undefined) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    cancel: async () => void (await pieces.return(undefined)),
  });
}

const MAX_MEDIA_BYTES = 64 * 1024 * 1024;
/**
 * Rows per piece, some 20 kB. Strings of hundreds of kB would survive until the next full garbage collection, 50 MB in
 * all.
 */
const ROWS_OF_A_PIECE = 20;

function requireFewFiles(files: readonly StoredFile[]): void {
  const totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (totalBytes <= MAX_MEDIA_BYTES) return;
  throw new ApiError(
    'conflict',
    `The files have ${totalBytes} bytes, but a document holds at most ${MAX_MEDIA_BYTES}. Stop the sandbox and copy its data folder instead.`,
  );
}

async function* documentPieces(parts: ExportParts, isWithMedia: boolean): AsyncGenerator<string, undefined> {
  const { records, mediaFiles, clock } = parts;
  const path = join(mediaFiles.incoming, randomUUID());
  const files = isWithMedia ? records.videos.files() : undefined;
  try {
    const exportedAt = isoTime(clock.nowMs());
    copyDatabase(records.database, path);
    using copy = new DatabaseSync(path);
    yield `{"v":1,"schema":${SCHEMA_VERSION},"exported_at":"${exportedAt}","tables":{`;
    yield* tablePieces(copy);
    yield `},"sequences":${JSON.stringify(readSequences(copy))}`;
    if (files) yield* mediaPieces(files, mediaFiles);
    yield '}';
    return undefined;
  } finally {
    await rm(path, { force: true });
  }
}

function* tablePieces(copy: DatabaseSync): Generator<string> {
  for (const [index, table] of tableNames(copy).entries()) {
    yield `${index === 0 ? '' : ','}${JSON.stringify(table)}:[`;
    let piece: string[] = [];
    let separator = '';
    for (const row of rowsOf(copy, table)) {
      piece.push(JSON.stringify(row));
      if (piece.length < ROWS_OF_A_PIECE) continue;
      yield separator + piece.join(',');
      piece = [];
      separator = ',';
    }
    yield `${piece.length === 0 ? '' : separator}${piece.join(',')}]`;
  }
}

/** Yields the media files, skipping those that were deleted or replaced since the copy was made. */
async function* mediaPieces(
  files: readonly StoredFile[],
  mediaFiles: ExportParts['mediaFiles'],
): AsyncGenerator<string> {
  let separator = ',"media":{';
  for (const { videoId, sha256 } of files) {
    const bytes = await readFile(mediaFiles.pathOf(videoId)).catch(() => undefined);
    if (!bytes || createHash('sha256').update(bytes).digest('hex') !== sha256) continue;
    yield `${separator}${JSON.stringify(videoId)}:"${bytes.toString('base64')}"`;
    separator = ',';
  }
  yield separator === ',' ? '}' : `${separator}}`;
}

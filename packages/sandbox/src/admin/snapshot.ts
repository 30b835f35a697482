import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { Cleanup } from '../cleanup.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events.ts';
import { ApiError } from '../http/api-error.ts';
import { jsonBody, query, type Endpoint } from '../http/input.ts';
import { isoTime } from '../http/wire.ts';
import type { Lifecycle } from '../lifecycle.ts';
import { SCHEMA_VERSION } from '../store/database.ts';
import { replaceEverything, type MediaFiles } from '../store/media-files.ts';
import type { Records } from '../store/records.ts';
import { storageTroubleOf } from '../store/storage-trouble.ts';
import { eraseTables, latestTimeIn, putRows, readSequences, rowsOf, tableNames } from '../store/tables.ts';
import type { StoredFile } from '../store/videos.ts';
import type { Acceptance } from '../uploads/acceptance.ts';
import type { Importer } from '../uploads/import.ts';
import { refusal, requireRows, snapshotSchema, type Snapshot } from './snapshot-document.ts';

/** The source of a snapshot and the target of a restore. */
export interface SnapshotParts {
  readonly records: Records;
  readonly mediaFiles: MediaFiles;
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly acceptance: Acceptance;
  readonly importer: Importer;
  readonly events: Events;
}

/**
 * Endpoints that export all records as one JSON document and import them again. Keys and upload addresses are included
 * only as hashes, webhook secrets in full.
 */
export function snapshotEndpoints(parts: SnapshotParts): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/_sandbox/export',
      says: 'Gives all records as one JSON document (hashes of the keys only); ?media=true with the files, up to 64 MiB of them.',
      handler: async (context) => {
        const { media } = query(context.req.raw, exportQuery);
        const headers = { 'Cache-Control': 'no-store', 'Content-Type': 'application/json' };
        return context.body(await snapshotText(parts, media === 'true'), 200, headers);
      },
    },
    {
      method: 'POST',
      path: '/_sandbox/import',
      says: 'Replaces everything with such a document, keys included. A file that is not in it stays if its hash matches; else it is missing.',
      handler: async (context) => {
        const schema = snapshotSchema(parts.records.database);
        const document = await jsonBody(context.req.raw, schema, { maxBytes: MAX_DOCUMENT_BYTES });
        return context.json({ data: await importSnapshot(parts, document) });
      },
    },
  ];
}

const exportQuery = z.strictObject({ media: z.enum(['true', 'false'], 'must be true or false').default('false') });
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;
const MAX_MEDIA_BYTES = 64 * 1024 * 1024;

/**
 * Returns the document as of one moment; a file deleted during the export is left out.
 * @throws ApiError 409 the files are too many for one document
 */
export async function snapshotText({ records, ...parts }: SnapshotParts, isWithMedia: boolean): Promise<string> {
  const { database, videos } = records;
  parts.lifecycle.advance();
  const document = {
    v: 1,
    schema: SCHEMA_VERSION,
    exported_at: isoTime(parts.clock.nowMs()),
    tables: Object.fromEntries(tableNames(database).map((table) => [table, rowsOf(database, table)])),
    sequences: readSequences(database),
  } satisfies Snapshot;
  return JSON.stringify(isWithMedia ? { ...document, media: await mediaOf(videos.files(), parts) } : document);
}

async function mediaOf(files: readonly StoredFile[], { mediaFiles }: Pick<SnapshotParts, 'mediaFiles'>) {
  const totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (totalBytes > MAX_MEDIA_BYTES)
    throw new ApiError(
      'conflict',
      `The files have ${totalBytes} bytes, but a document holds at most ${MAX_MEDIA_BYTES}. Stop the sandbox and copy its data folder instead.`,
    );
  const media: Record<string, string> = {};
  for (const { videoId, sha256 } of files) {
    const bytes = await readFile(mediaFiles.pathOf(videoId)).catch(() => undefined);
    if (bytes && sha256Of(bytes) === sha256) media[videoId] = bytes.toString('base64');
  }
  return media;
}

/** Checks the whole document, then replaces all records atomically. A refused document changes nothing. */
export async function importSnapshot(parts: SnapshotParts, document: Snapshot) {
  const { records, mediaFiles, acceptance, importer, clock, events } = parts;
  requireRows(records.database, document.tables);
  const videos = document.tables['videos'] ?? [];
  const files = new Map(
    videos.flatMap((row) => (row['file_sha256'] === null ? [] : [[String(row['id']), row['file_sha256']] as const])),
  );
  await using cleanup = new Cleanup();
  const paths = new Map<string, string>();
  for (const [videoId, base64] of Object.entries(document.media ?? {})) {
    const bytes = Buffer.from(base64, 'base64');
    if (files.get(videoId) !== sha256Of(bytes))
      throw refusal(`media.${videoId}`, 'does not match the hash in the records');
    const path = join(mediaFiles.incoming, randomUUID());
    cleanup.defer(() => rm(path, { force: true }));
    await writeFile(path, bytes, { mode: 0o600 });
    paths.set(videoId, path);
  }
  const { space } = await acceptance.startNewEra(() => {
    for (const { videoId, sha256 } of records.videos.files()) {
      const path = mediaFiles.pathOf(videoId);
      if (!paths.has(videoId) && files.get(videoId) === sha256 && existsSync(path)) paths.set(videoId, path);
    }
    return fitOrRefuse(() => replaceEverything(parts, paths, () => putEverything(parts, document)));
  });
  clock.advance(Math.max(0, latestTimeIn(records.database) - clock.nowMs()));
  events.emit('reset', ''); // aborts the imports in progress
  importer.resume();
  await space;
  return { videos: videos.length, files: paths.size, files_missing: files.size - paths.size };
}

function putEverything({ records }: SnapshotParts, { tables, sequences }: Snapshot): void {
  const { database, keys, channels, feeds, webhooks, videos } = records;
  eraseTables(database);
  putRows(database, tables, sequences);
  // Finds unreadable rows while the transaction can still be rolled back.
  for (const store of [keys, channels, feeds, webhooks]) store.list();
  for (let page = 1; videos.page({}, page, 1000).videos.length > 0; page += 1);
}

/**
 * Runs work that may fail because of the document. @throws ApiError 422 if it does, or the original error if the disk
 * is the cause
 */
function fitOrRefuse<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (storageTroubleOf(error)) throw error;
    const isOfDatabase = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
    if (isOfDatabase || error instanceof TypeError)
      throw refusal('The document', `does not fit together: ${error.message}`);
    throw error;
  }
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

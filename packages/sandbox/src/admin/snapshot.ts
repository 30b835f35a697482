import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonBody, query } from '../http/input.ts';
import { inTransaction } from '../store/database.ts';
import { latestTimeIn, eraseTables, fillTables } from '../store/tables.ts';
import type { Services } from '../services.ts';
import type { Endpoint } from '../http/handler.ts';
import { refusal, requireFittingTables, snapshotDocument, type SnapshotDocument } from './snapshot-document.ts';
import { exportStream } from './snapshot-export.ts';

type SnapshotParts = Pick<
  Services,
  'records' | 'mediaFiles' | 'lifecycle' | 'acceptance' | 'importer' | 'clock' | 'events'
>;

/** All records as one JSON document, and back. Of keys and upload addresses there are only hashes; secrets of webhooks are in it. */
export function snapshotEndpoints(parts: SnapshotParts): Endpoint[] {
  return [
    {
      method: 'GET',
      path: '/_sandbox/export',
      says: 'Gives all records as one JSON document (hashes of the keys only); ?media=true with the files, up to 64 MiB of them.',
      handler: async (context) => {
        const { media } = query(context.req.raw, exportQuery);
        const headers = { 'Cache-Control': 'no-store', 'Content-Type': 'application/json' };
        if (context.req.method === 'HEAD') return context.body(null, 200, headers); // an unread stream would stay open
        return context.body(await exportStream(parts, media === 'true'), 200, headers);
      },
    },
    {
      method: 'POST',
      path: '/_sandbox/import',
      says: 'Replaces everything with such a document, keys included. A file that is not in it stays if its hash matches; else it is missing.',
      handler: async (context) => {
        const document = await jsonBody(context.req.raw, snapshotDocument, { maxBytes: MAX_DOCUMENT_BYTES });
        return context.json({ data: await imported(parts, document) });
      },
    },
  ];
}

const exportQuery = z.strictObject({ media: z.enum(['true', 'false'], 'must be true or false').default('false') });
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** Checks everything first, then replaces everything atomically: a refused document changes nothing. */
async function imported(parts: SnapshotParts, document: SnapshotDocument) {
  const { records, mediaFiles, acceptance, importer, clock, events } = parts;
  requireFittingTables(document, records.database);
  const brought = await unpacked(document, mediaFiles.incoming);
  try {
    const { files, kept, space } = await acceptance.startNewEra(() => replaceAll(parts, document, brought));
    clock.advance(Math.max(0, latestTimeIn(records.database) - clock.nowMs()));
    events.emit('reset', ''); // aborts the imports in progress
    importer.resume();
    await space;
    return {
      videos: document.tables['videos']?.length ?? 0,
      files: kept.size,
      files_missing: files.length - kept.size,
    };
  } finally {
    await Promise.all([...brought.values()].map((path) => rm(path, { force: true })));
  }
}

/** Writes the media to files. @returns their paths by video id. @throws ApiError 422 for one without a record, or with another hash */
async function unpacked({ tables, media = {} }: SnapshotDocument, folder: string): Promise<Map<string, string>> {
  const records = new Map(tables['videos']?.map((row) => [row['id'], row] as const));
  const contents = Object.entries(media).map(([videoId, base64]) => ({
    videoId,
    bytes: Buffer.from(base64, 'base64'),
  }));
  for (const { videoId, bytes } of contents) {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    if (records.get(videoId)?.['file_sha256'] !== sha256)
      throw refusal(`media.${videoId}`, 'does not match the hash in the records');
  }
  const paths = new Map<string, string>();
  for (const { videoId, bytes } of contents) {
    const path = join(folder, randomUUID());
    paths.set(videoId, path);
    await writeFile(path, bytes, { mode: 0o600 });
  }
  return paths;
}

function replaceAll({ records, mediaFiles }: SnapshotParts, document: SnapshotDocument, brought: Map<string, string>) {
  const { database, videos } = records;
  const before = new Map(videos.files().map((file) => [file.videoId, file] as const));
  fitOrRefuse(() =>
    inTransaction(database, () => {
      eraseTables(database);
      fillTables(database, document);
      readEverything(records);
    }),
  );
  const files = videos.files();
  const own = files
    .filter((file) => before.get(file.videoId)?.sha256 === file.sha256 && existsSync(mediaFiles.pathOf(file.videoId)))
    .map(({ videoId }) => [videoId, mediaFiles.pathOf(videoId)] as const);
  const kept = new Map([...own, ...brought]);
  return { files, kept, space: mediaFiles.replace(kept) };
}

/** Finds unreadable rows now, while the transaction can still be rolled back. @throws TypeError */
function readEverything({ keys, channels, feeds, webhooks, videos }: SnapshotParts['records']): void {
  for (const store of [keys, channels, feeds, webhooks]) store.list();
  for (let page = 1; videos.page({}, page, 1000).videos.length > 0; page += 1);
}

function fitOrRefuse(work: () => void): void {
  try {
    work();
  } catch (error) {
    const isOfDatabase = error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR';
    if (isOfDatabase || error instanceof TypeError)
      throw refusal('The document', `does not fit together: ${error.message}`);
    throw error;
  }
}

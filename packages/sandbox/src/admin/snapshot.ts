import { existsSync } from 'node:fs';
import { z } from 'zod';
import type { Events } from '../events.ts';
import { jsonTexts, query } from '../http/input.ts';
import { replaceEverything } from '../store/replace-everything.ts';
import { latestTimeIn, eraseTables, takeTables } from '../store/tables.ts';
import type { Acceptance } from '../uploads/acceptance.ts';
import type { Importer } from '../uploads/import.ts';
import type { Endpoint } from '../http/handler.ts';
import { fitOrRefuse, unpackSnapshot, type SnapshotDraft } from './snapshot-draft.ts';
import { exportStream, type ExportParts } from './snapshot-export.ts';

/** The source of a snapshot and the target of a restore. */
export interface SnapshotParts extends ExportParts {
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
        if (context.req.method === 'HEAD') return context.body(null, 200, headers); // an unread stream would stay open
        return context.body(await exportStream(parts, media === 'true'), 200, headers);
      },
    },
    {
      method: 'POST',
      path: '/_sandbox/import',
      says: 'Replaces everything with such a document, keys included. A file that is not in it stays if its hash matches; else it is missing.',
      handler: async (context) => {
        return context.json({ data: await importSnapshot(parts, jsonTexts(context.req.raw, MAX_DOCUMENT_BYTES)) });
      },
    },
  ];
}

const exportQuery = z.strictObject({ media: z.enum(['true', 'false'], 'must be true or false').default('false') });
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** Checks the whole document, then replaces all records atomically. A refused document changes nothing. */
export async function importSnapshot(parts: SnapshotParts, document: AsyncIterable<string>) {
  const { records, mediaFiles, acceptance, importer, clock, events } = parts;
  await using cleanup = new AsyncDisposableStack();
  const draft = await unpackSnapshot(document, mediaFiles.incoming, cleanup);
  const { kept, space } = await acceptance.startNewEra(() => replaceAll(parts, draft));
  clock.advance(Math.max(0, latestTimeIn(records.database) - clock.nowMs()));
  events.emit('reset', ''); // aborts the imports in progress
  importer.resume();
  await space;
  return { videos: draft.videoCount, files: kept.size, files_missing: draft.fileCount - kept.size };
}

function replaceAll({ records, mediaFiles }: SnapshotParts, { rows, sequences, media }: SnapshotDraft) {
  const { database, videos } = records;
  database.prepare('ATTACH ? AS draft').run(rows);
  try {
    const kept = new Map<string, string>();
    for (const videoId of videos.withSameFileIn('draft'))
      if (existsSync(mediaFiles.pathOf(videoId))) kept.set(videoId, mediaFiles.pathOf(videoId));
    for (const [videoId, path] of media) kept.set(videoId, path);
    const { space } = fitOrRefuse(() =>
      replaceEverything({ records, mediaFiles }, kept, () => {
        eraseTables(database);
        takeTables(database, 'draft', sequences);
        readEverything(records);
      }),
    );
    return { kept, space };
  } finally {
    database.exec('DETACH draft');
  }
}

/** Reads all records to find unreadable rows while the transaction can still be rolled back. @throws TypeError */
function readEverything({ keys, channels, feeds, webhooks, videos }: SnapshotParts['records']): void {
  for (const store of [keys, channels, feeds, webhooks]) store.list();
  for (let page = 1; videos.page({}, page, 1000).videos.length > 0; page += 1);
}

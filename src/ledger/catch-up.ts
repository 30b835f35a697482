import type { Kysely } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { newFacts, stateOf, unbound } from '../pipeline/file/facts.ts';
import { receiptsSince } from './receipts.ts';
import type { Receipt } from './receipts.ts';
import { factsOf, rowOf } from './row.ts';
import type { LedgerTables } from './schema.ts';

/**
 * Takes over what was written to `receipts.jsonl` since the last line of history: else a ledger that was put back from a
 * copy uploads again what was uploaded since. After a crash between a receipt and its row it is that one receipt.
 */
export async function catchUp(db: Kysely<LedgerTables>, stateDir: string): Promise<void> {
  const last = await db.selectFrom('history').select('at').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  const missed = await receiptsSince(stateDir, last?.at ?? 0);
  if (missed.length === 0) return;
  const newest = new Map(missed.map((receipt) => [receipt.id, receipt]));
  await db.transaction().execute(async (trx) => {
    for (const receipt of newest.values()) {
      const row = await trx.selectFrom('file').selectAll().where('id', '=', receipt.id).executeTakeFirst();
      const facts = takenOver(row === undefined ? null : factsOf(row), receipt);
      if (facts === null) continue;
      const values = rowOf(facts);
      await trx
        .insertInto('file')
        .values(values)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
      await trx
        .insertInto('history')
        .values({ file_id: facts.id, at: Date.now(), state: stateOf(facts), note: noteOf(receipt) })
        .execute();
    }
  });
}

/** @returns null when the row says it already */
function takenOver(row: Facts | null, receipt: Receipt): Facts | null {
  const at = Date.parse(receipt.at);
  const isSameVideo = row !== null && row.videoId === receipt.video_id;
  if (isSameVideo && (row.uploadedAt !== null || receipt.step === 'bound')) return null;
  // An import has no address and no upload of ours.
  const isUploaded = receipt.step === 'uploaded' || receipt.step === 'ready' || receipt.upload_url === null;
  const before = { ...(row ?? bare(receipt)), ...(!isSameVideo && unbound) };
  return {
    ...before,
    ...known(receipt),
    rev: before.rev + 1,
    createdAt: before.createdAt ?? at,
    // The service is asked before anything is sent: nobody knows what was since.
    uploadStartedAt: before.uploadStartedAt ?? at,
    ...(isUploaded && { uploadedAt: at, processingSince: at, remoteStatus: 'processing' }),
    dying: receipt.step === 'dying',
    attempts: 0,
    notBefore: null,
    end: null,
    why: null,
    lastFailure: null,
    endedAt: null,
  };
}

function bare(receipt: Receipt): Facts {
  return newFacts({ id: receipt.id, discoveredAt: receipt.discovered_at, ...known(receipt) });
}

function known(receipt: Receipt) {
  return {
    folder: receipt.folder,
    path: receipt.path,
    version: receipt.version,
    sourceUrl: receipt.source_url,
    plan: receipt.plan,
    onDuplicate: receipt.on_duplicate,
    afterReady: receipt.after_ready,
    videoId: receipt.video_id,
    uploadUrl: receipt.upload_url,
    sha256: receipt.sha256,
  } satisfies Partial<Facts>;
}

const noteOf = ({ step, video_id: videoId }: Receipt): string =>
  `taken over from receipts.jsonl: video ${videoId ?? '?'} ${step}`;

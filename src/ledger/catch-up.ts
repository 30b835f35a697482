import type { Kysely } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { newFacts, unbound } from '../pipeline/file/facts.ts';
import { receiptsSince } from './receipts.ts';
import type { Receipt } from './receipts.ts';
import { addHistory, factsOf, rowOf } from './row.ts';
import type { LedgerTables } from './schema.ts';

/**
 * Restores what `receipts.jsonl` says since the last line of history. Without it, a ledger restored from a copy uploads again
 * what was uploaded after the copy was made. After a crash between a receipt and its row, it is that one receipt.
 *
 * @throws {LedgerError} when the receipts cannot be used
 */
export async function catchUp(db: Kysely<LedgerTables>, stateDir: string): Promise<void> {
  const last = await db.selectFrom('history').select('at').orderBy('seq', 'desc').limit(1).executeTakeFirst();
  const missed = await receiptsSince(stateDir, last?.at ?? 0);
  if (missed.length === 0) return;
  const newest = new Map(missed.map((receipt) => [receipt.id, receipt]));
  await db.transaction().execute(async (trx) => {
    for (const receipt of newest.values()) {
      const row = await trx.selectFrom('file').selectAll().where('id', '=', receipt.id).executeTakeFirst();
      const facts = restored(row === undefined ? null : factsOf(row), receipt);
      if (facts === null) continue;
      const values = rowOf(facts);
      await trx
        .insertInto('file')
        .values(values)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
      await addHistory(trx, facts, noteOf(receipt));
    }
  });
}

/** The row as the receipt leaves it, or null when the row already says so. */
function restored(row: Facts | null, receipt: Receipt): Facts | null {
  const at = Date.parse(receipt.at);
  const isSameVideo = row !== null && row.videoId === receipt.video_id;
  if (isSameVideo && (row.uploadedAt !== null || receipt.step === 'bound')) return null;
  // The service fetches an import by itself.
  const isUploaded = receipt.step === 'uploaded' || receipt.step === 'ready' || receipt.upload_url === null;
  const before = { ...(row ?? bare(receipt)), ...(!isSameVideo && unbound) };
  return {
    ...before,
    ...known(receipt),
    rev: before.rev + 1,
    createdAt: before.createdAt ?? at,
    // Makes the pipeline ask the service before it sends anything: the upload may have gone on after the receipt.
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
  `restored from receipts.jsonl: video ${videoId ?? '?'} ${step}`;

import type { Kysely, Transaction } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { newFacts, unbound } from '../pipeline/file/facts.ts';
import { checksumOfLine } from './checksum.ts';
import { newReceipts, saysMore } from './receipts.ts';
import type { Receipt } from './receipts.ts';
import type { Connection } from './connection.ts';
import { factsOf, rowOf } from './row.ts';
import type { LedgerTables } from './schema.ts';
import { addHistory } from './write-row.ts';

/**
 * Restores what `receipts.jsonl` says beyond the rows. Without it, a ledger restored from a copy uploads again
 * what was uploaded after the copy was made. After a crash between a receipt and its row, it is that one receipt. A copy may also be
 * older than an upload that has no receipt yet.
 *
 * @returns a sentence when there are lines that are no receipts, else none
 * @throws {LedgerError} when the receipts cannot be used
 */
export async function catchUp(
  { db, sql }: Pick<Connection, 'db' | 'sql'>,
  stateDir: string,
): Promise<readonly string[]> {
  const { is_copy: isMarked } = await db.selectFrom('identity').select('is_copy').executeTakeFirstOrThrow();
  const isCopy = isMarked === 1;
  const changedAt = await lastChange(db);
  const isNew = (receipt: Receipt): boolean => {
    const [row] = sql.rows('SELECT rev FROM file WHERE id = ?', [receipt.id]);
    if (row === undefined || saysMore(receipt, { rev: Number(row['rev']) }, changedAt)) return true;
    // Before it, an older copy may have been put back, whose rows went on with lower revisions.
    return isCopy && Date.parse(receipt.at) >= changedAt;
  };
  const { receipts, strange } = await newReceipts(stateDir, isNew);
  if (receipts.length > 0 || isCopy) await takeOver({ db, sql }, receipts, isCopy);
  if (strange === 0) return [];
  return [
    `receipts.jsonl: ${strange} ${strange === 1 ? 'line is no receipt and was' : 'lines are no receipts and were'} left out`,
  ];
}

async function takeOver(
  { db, sql }: Pick<Connection, 'db' | 'sql'>,
  receipts: readonly Receipt[],
  isCopy: boolean,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    let isBehind = isCopy;
    for (const receipt of receipts) {
      const row = await trx.selectFrom('file').selectAll().where('id', '=', receipt.id).executeTakeFirst();
      const facts = restored(row === undefined ? null : factsOf(row), receipt);
      if (facts === null) continue;
      isBehind = true;
      const values = rowOf(facts);
      await trx
        .insertInto('file')
        .values(values)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
      addHistory(sql, facts, noteOf(receipt));
    }
    if (isBehind) await doubtUploads(trx);
    if (isCopy) await trx.updateTable('identity').set({ is_copy: 0 }).execute();
  });
}

/**
 * The ledger is older than its receipts, or a copy was put back: an upload may have begun that its rows do not know of. So the service is
 * asked before anything is sent to their records, which a first PUT would not need.
 */
async function doubtUploads(trx: Transaction<LedgerTables>): Promise<void> {
  const rows = await trx
    .selectFrom('file')
    .selectAll()
    .where('video_id', 'is not', null)
    .where('upload_started_at', 'is', null)
    .where('uploaded_at', 'is', null)
    .execute();
  for (const facts of rows.map(factsOf)) {
    const asked = { ...facts, rev: facts.rev + 1, uploadStartedAt: facts.createdAt ?? 0 };
    await trx.updateTable('file').set(rowOf(asked)).where('id', '=', facts.id).execute();
  }
}

/** When the newest line of history that is as it was written was written, in epoch milliseconds. */
async function lastChange(db: Kysely<LedgerTables>): Promise<number> {
  const lines = await db.selectFrom('history').selectAll().orderBy('seq', 'desc').limit(linesAsked).execute();
  const sound = lines.find((line) => line.checksum === null || line.checksum === checksumOfLine({ ...line }));
  return sound?.at ?? 0;
}

const linesAsked = 10;

/** The row as the receipt leaves it, or null when the row already says so. */
export function restored(row: Facts | null, receipt: Receipt): Facts | null {
  const at = Date.parse(receipt.at);
  const isSameVideo = row !== null && row.videoId === receipt.video_id;
  if (isSameVideo && (row.uploadedAt !== null || receipt.step === 'bound')) return null;
  // The service fetches an import by itself.
  const isUploaded = receipt.step === 'uploaded' || receipt.step === 'ready' || receipt.upload_url === null;
  const before = { ...(row ?? bare(receipt)), ...(!isSameVideo && unbound) };
  return {
    ...before,
    ...known(receipt),
    rev: Math.max(before.rev, receipt.rev ?? 0) + 1,
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

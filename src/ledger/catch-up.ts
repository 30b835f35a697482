import type { Kysely, Selectable } from 'kysely';
import type { Facts } from '../pipeline/file/facts.ts';
import { newFacts, unbound } from '../pipeline/file/facts.ts';
import { condemned } from '../pipeline/file/reasons.ts';
import { checksumOf, factsOf, rowColumns } from './row.ts';
import { newReceipts, saysMore } from './receipts.ts';
import type { Receipt } from './receipts.ts';
import type { Connection } from './connection.ts';
import type { Work } from './work.ts';
import type { FileTable, LedgerTables } from './schema.ts';
import { ask } from './work.ts';
import type { SqlWords } from './words.ts';
import { addHistory, restoreFacts } from './files.ts';

/**
 * Brings the rows up to date with `receipts.jsonl`. Otherwise, a ledger restored from a copy would repeat uploads made
 * after the copy. After a crash between a receipt and its row, one receipt is ahead. A copy may also be older than an
 * upload that has no receipt yet.
 *
 * @param placed replaces a receipt's folder with the folder's name in rows
 * @returns a sentence if some lines are not receipts
 * @throws {LedgerError} if the receipts cannot be used
 */
export async function catchUp(
  connection: Pick<Connection, 'db' | 'words' | 'write'>,
  stateDir: string,
  placed: (facts: Facts) => Facts = (facts) => facts,
): Promise<readonly string[]> {
  const { db, words, write } = connection;
  const { is_copy: isMarked, counter: known } = await db
    .selectFrom('identity')
    .select(['is_copy', 'counter'])
    .executeTakeFirstOrThrow();
  const isCopy = isMarked === 1;
  const changedAt = await lastChange(db);
  const isNew = (receipt: Receipt, rev: number | undefined): boolean =>
    rev === undefined ||
    saysMore(receipt, { rev }) ||
    // An older copy may have been restored earlier, and its rows may have continued with lower revisions.
    (isCopy && Date.parse(receipt.at) >= changedAt);
  const newOnes = async (receipts: readonly Receipt[]): Promise<readonly Receipt[]> => {
    const revisions = await revisionsOf(
      db,
      receipts.map(({ id }) => id),
    );
    return receipts.filter((receipt) => isNew(receipt, revisions.get(receipt.id)));
  };
  const { receipts, strange, counter } = await newReceipts(stateDir, newOnes);
  if (receipts.length > 0 || isCopy) await write(() => takeOver(words, receipts, { isCopy, placed }));
  // The counter is written after the rows: only a ledger with these rows is as far along as its receipts.
  if (counter > known) await write(() => ask('UPDATE identity SET counter = ? WHERE counter < ?', [counter, counter]));
  if (strange === 0) return [];
  return [
    `receipts.jsonl: ${strange} ${strange === 1 ? 'line is not a receipt and was' : 'lines are not receipts and were'} skipped`,
  ];
}

async function revisionsOf(db: Kysely<LedgerTables>, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const some = ids.slice(from, from + idsAtOnce);
    for (const { id, rev } of await db.selectFrom('file').select(['id', 'rev']).where('id', 'in', some).execute())
      found.set(id, rev);
  }
  return found;
}

/** Ids per query. SQLite allows at most 32,766 bound values per statement. */
const idsAtOnce = 1_000;

function* takeOver(
  words: SqlWords,
  receipts: readonly Receipt[],
  { isCopy, placed }: { readonly isCopy: boolean; readonly placed: (facts: Facts) => Facts },
): Work<void> {
  let isBehind = isCopy;
  for (const receipt of receipts) {
    const [row] = yield* ask(`SELECT ${rowColumns} FROM file WHERE id = ?${words.forWrite}`, [receipt.id]);
    const facts = restored(row === undefined ? null : factsOf(row as unknown as Selectable<FileTable>), receipt);
    if (facts === null) continue;
    isBehind = true;
    yield* restoreFacts(words, placed(facts));
    yield* addHistory(facts, noteOf(receipt));
  }
  if (isBehind) yield* doubtUploads(words);
  if (isCopy) yield* ask('UPDATE identity SET is_copy = 0');
}

/**
 * Marks unsent records as possibly uploading, so that the service is asked before anything is sent; a first PUT would
 * skip that check. The ledger is older than its receipts, or a restored copy, so an upload may have begun that its rows
 * do not show.
 */
function* doubtUploads(words: SqlWords): Work<void> {
  const rows = yield* ask(
    `SELECT ${rowColumns} FROM file WHERE video_id IS NOT NULL AND upload_started_at IS NULL AND uploaded_at IS NULL`,
  );
  for (const facts of (rows as unknown as Selectable<FileTable>[]).map(factsOf))
    yield* restoreFacts(words, { ...facts, rev: facts.rev + 1, uploadStartedAt: facts.createdAt ?? 0 });
}

/** Time of the newest undamaged line of history, in epoch milliseconds. */
async function lastChange(db: Kysely<LedgerTables>): Promise<number> {
  const lines = await db.selectFrom('history').selectAll().orderBy('seq', 'desc').limit(linesAsked).execute();
  const sound = lines.find((line) => line.checksum === null || line.checksum === checksumOf({ ...line }));
  return sound?.at ?? 0;
}

const linesAsked = 10;

/** Returns the row with the receipt's facts, or null if the row already has them. */
export function restored(row: Facts | null, receipt: Receipt): Facts | null {
  const at = Date.parse(receipt.at);
  const isSameVideo = row !== null && row.videoId === receipt.video_id;
  const isTakenBack = receipt.step === 'taken back';
  if (isSameVideo && !isTakenBack && (row.uploadedAt !== null || receipt.step === 'bound')) return null;
  // The service fetches imports itself, without an upload.
  const isUploaded = ['uploaded', 'ready', 'taken back'].includes(receipt.step) || receipt.upload_url === null;
  const before = { ...(row ?? bare(receipt)), ...(!isSameVideo && unbound) };
  return {
    ...before,
    ...known(receipt),
    rev: Math.max(before.rev, receipt.rev) + 1,
    createdAt: before.createdAt ?? at,
    // Makes the pipeline ask the service before it sends anything: the upload may have continued after the receipt.
    uploadStartedAt: before.uploadStartedAt ?? at,
    ...(isUploaded && { uploadedAt: at, processingSince: at, remoteStatus: 'processing' }),
    dying: receipt.step === 'dying',
    attempts: 0,
    notBefore: null,
    end: null,
    why: null,
    lastFailure: null,
    endedAt: null,
    // The round asks for the video, and deletes it unless that has happened.
    ...(isTakenBack && {
      ...condemned({ videoId: receipt.video_id }, receipt.why ?? 'taken back'),
      end: 'skipped',
      endedAt: at,
    }),
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
    uploadHeaders: receipt.upload_headers ?? null,
    sha256: receipt.sha256,
  } satisfies Partial<Facts>;
}

const noteOf = ({ step, video_id: videoId }: Receipt): string =>
  `restored from receipts.jsonl: video ${videoId ?? '?'} ${step}`;

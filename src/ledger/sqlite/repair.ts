import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Selectable } from 'kysely';
import { newFacts } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { restored } from '../catch-up.ts';
import { checksumOfValues, summed, factsOf, listed, rowOf } from '../row.ts';
import { receiptsSince, saysMore } from '../receipts.ts';
import type { Receipt } from '../receipts.ts';
import type { FileTable } from '../schema.ts';
import { addHistory } from '../files.ts';
import { backupsOf } from './backups.ts';
import type { SqliteConnection } from './connection.ts';
import { doWork } from './statements.ts';

/**
 * Repairs every row whose checksum does not match, from the newest copy of the ledger and later receipts, or from the
 * receipts alone. A file in neither source is held.
 *
 * @returns a sentence for each repaired row
 */
export async function repairRows(
  { database, db, sql }: SqliteConnection,
  stateDir: string,
): Promise<readonly string[]> {
  const damaged = await damagedRows(database);
  if (damaged.length === 0) return [];
  const { receipts } = await receiptsSince(stateDir, 0);
  const copies = await backupsOf(stateDir);
  return db.transaction().execute(async (trx) => {
    const sentences: string[] = [];
    for (const seq of damaged) {
      const { row, note } = rebuilt(readRaw(database, seq), { copies, receipts });
      await trx.updateTable('file').set(row).where('seq', '=', seq).execute();
      doWork(sql, addHistory(factsOf({ ...(row as Selectable<FileTable>), seq }), note));
      sentences.push(`${row.folder}/${row.path}: ${note}`);
    }
    return sentences;
  });
}

/** Finds damaged rows in slices, so that a status request need not wait for the whole search. */
async function damagedRows(database: DatabaseSync): Promise<readonly number[]> {
  const found: number[] = [];
  const newest = Number(database.prepare('SELECT max(seq) AS seq FROM file').get()?.['seq'] ?? 0);
  for (let first = 0; first <= newest; first += rowsAtOnce) {
    found.push(...mismatches(database, first, first + rowsAtOnce - 1));
    await nextTurn();
  }
  return found;
}

/** Rows per slice, which takes about 20 milliseconds. */
const rowsAtOnce = 5_000;

interface Repair {
  readonly row: ReturnType<typeof rowOf>;
  /** Note for the file's history. */
  readonly note: string;
}

type Damaged = Readonly<Record<string, unknown>>;

/** Reads a row with big integers, because a damaged number may exceed what a JavaScript number can hold. */
function readRaw(database: DatabaseSync, seq: number): Damaged {
  const query = database.prepare('SELECT * FROM file WHERE seq = ?');
  query.setReadBigInts(true);
  return query.get(seq) ?? {};
}

function rebuilt(
  row: Damaged,
  from: { readonly copies: readonly string[]; readonly receipts: readonly Receipt[] },
): Repair {
  const copy = from.copies.map((path) => copyOf(path, row)).find((found) => found !== null) ?? null;
  const isNew = (receipt: Receipt): boolean => copy === null || saysMore(receipt, copy);
  const receipt = from.receipts.findLast((each) => isAbout(each, row));
  const news = receipt !== undefined && isNew(receipt) ? restored(copy, receipt) : null;
  const facts = news ?? copy;
  if (facts === null) return { row: rowOf(held(row)), note: heldBecause };
  const suspects = [...new Set([...facts.suspects, ...tokensOf(row)])];
  const source = copy === null ? 'receipts.jsonl' : 'a copy of the ledger';
  return {
    row: rowOf({ ...facts, suspects }),
    note: `its row in the ledger was damaged, and was rebuilt from ${source}`,
  };
}

const heldBecause =
  'its row in the ledger was damaged, and neither a copy of the ledger nor a receipt has it: look for its video, then run `dropcast retry`';

/** Returns the row in a copy of the ledger, if it is about the same file and undamaged. */
function copyOf(path: string, row: Damaged): Facts | null {
  try {
    return readCopy(path, row);
  } catch {
    // The damage may be older than the copy, or the copy itself is damaged: older copies and receipts may help.
    return null;
  }
}

function readCopy(path: string, row: Damaged): Facts | null {
  // Opened as immutable: a copy is never written, and SQLite would otherwise create a `-wal` file.
  using copy = new DatabaseSync(new URL(`${pathToFileURL(path).href}?immutable=1`), { readOnly: true });
  const found = copy.prepare('SELECT * FROM file WHERE seq = ?').get(Number(row['seq'])) as
    | Selectable<FileTable>
    | undefined;
  if (found === undefined || (found.id !== row['id'] && found.path !== row['path'])) return null;
  return factsOf(found);
}

/** Whether a receipt is about a row. Either id may be damaged, so one match is enough. */
function isAbout(receipt: Receipt, row: Damaged): boolean {
  return receipt.id === row['id'] || (receipt.video_id !== null && receipt.video_id === row['video_id']);
}

/**
 * Returns the readable facts of a row that no source has: enough to name the file. Without a receipt, nothing was sent.
 */
function held(row: Damaged): Facts {
  const text = (name: string): string => (typeof row[name] === 'string' ? row[name] : '');
  const version = {
    dev: text('dev'),
    ino: text('ino'),
    birthtimeNs: text('birthtime_ns'),
    size: Number(row['size']) || 0,
    mtimeNs: text('mtime_ns'),
    ctimeNs: text('ctime_ns'),
  };
  const seen = { id: text('id'), folder: text('folder'), path: text('path'), version };
  const now = Date.now();
  return {
    ...newFacts({
      ...seen,
      sourceUrl: null,
      plan: null,
      onDuplicate: 'skip',
      afterReady: { kind: 'keep' },
      discoveredAt: now,
    }),
    suspects: tokensOf(row),
    end: 'held',
    why: heldBecause,
    // Only an operator can resume a file with this code.
    lastFailure: { kind: 'permanent', code: 'flawed', message: heldBecause },
    endedAt: now,
  };
}

/** Returns the tokens of create requests in doubt: the service may hold a record for each. */
function tokensOf(row: Damaged): readonly string[] {
  const { intent, suspects } = row;
  const listed =
    typeof suspects === 'string' ? [...suspects.matchAll(/"([\w-]+)"/g)].map(([, token]) => token ?? '') : [];
  return typeof intent === 'string' ? [...listed, intent] : listed;
}

/** Returns the `seq` of rows in `file` whose checksum does not match. Rows without a checksum are skipped. */
export function mismatches(database: DatabaseSync, first = 0, last = Number.MAX_SAFE_INTEGER): readonly number[] {
  const names = summedColumns(database);
  // Rows are read as arrays: 100,000 rows take a third of a second; as objects, they take three times as long.
  const rows = database.prepare(
    `SELECT seq, checksum, ${listed(names)} FROM file WHERE seq BETWEEN ? AND ? AND checksum IS NOT NULL`,
  );
  rows.setReturnArrays(true);
  // A flipped bit can produce an integer that a JavaScript number cannot hold.
  rows.setReadBigInts(true);
  const found: number[] = [];
  for (const [seq, checksum, ...values] of rows.iterate(first, last) as unknown as Iterable<readonly unknown[]>)
    if (checksumOfValues(names, values.map(plain)) !== Number(checksum)) found.push(Number(seq));
  return found;
}

/** Returns the columns of `file` that a checksum covers, in checksum order. */
function summedColumns(database: DatabaseSync): readonly string[] {
  return summed(
    database
      .prepare("SELECT name FROM pragma_table_info('file')")
      .all()
      .map(({ name }) => String(name)),
  );
}

/** Converts an SQLite value to the form in which Kysely reads it. */
function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

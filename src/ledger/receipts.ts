import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Receipts } from '../pipeline/file/ports.ts';
import { openAppendLog } from './append-log.ts';
import { sizeOfUsableFile } from './state-directory.ts';
import { translated } from './ledger-error.ts';

/** A line of `receipts.jsonl`: enough to rebuild a row and continue from there. */
export interface Receipt {
  readonly v: 1;
  /** ISO 8601. */
  readonly at: string;
  readonly step: Parameters<Receipts['append']>[0];
  readonly id: string;
  /** The row's revision before the change that the receipt records. */
  readonly rev: number;
  readonly folder: string;
  readonly path: string;
  readonly version: Facts['version'];
  readonly source_url: string | null;
  readonly plan: Facts['plan'];
  readonly on_duplicate: Facts['onDuplicate'];
  readonly after_ready: Facts['afterReady'];
  readonly discovered_at: number;
  readonly video_id: string | null;
  readonly upload_url: string | null;
  /** Missing: no headers. */
  readonly upload_headers?: Readonly<Record<string, string>>;
  readonly sha256: string | null;
  /** For an upload that is taken back: by whom, as a clause. */
  readonly why?: string;
}

/** Receipts for the ledger's counter, on separate lines: `{"v":1,"at":…,"counter":17}`. */
export interface CounterReceipts {
  /** Records a counter value. It is on disk when the promise resolves. */
  note(counter: number): Promise<void>;
}

/**
 * Opens `receipts.jsonl`, the backup in case the ledger is lost. It holds the only facts that neither the disk nor the
 * service can restore: which file has which video, and where its bytes go (design 5.9). It is as private as the ledger.
 *
 * @returns the receipts; `append` rejects with `LedgerUnavailableError` while the disk refuses
 * @throws {LedgerError} if the file cannot be opened
 */
export async function openReceipts(stateDir: string): Promise<Receipts & CounterReceipts & AsyncDisposable> {
  const log = await openAppendLog(receiptsPath(stateDir));
  const refused = (error: unknown): never => {
    throw translated(error, receiptsPath(stateDir));
  };
  return {
    append: async (step, facts) => {
      try {
        await log.append({ ...receiptOf(step, facts) });
      } catch (error) {
        refused(error);
      }
    },
    note: (counter) => log.append({ v: 1, at: new Date().toISOString(), counter }).catch(refused),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

export function receiptsPath(stateDir: string): string {
  return join(stateDir, 'receipts.jsonl');
}

/**
 * Bytes to read first, from the end of the file. Reading stops early, because the file holds years of receipts and
 * every start reads it.
 */
const firstReadBytes = 64 * 1024;

export interface ReadReceipts {
  /** Oldest first. */
  readonly receipts: readonly Receipt[];
  /** Number of lines that are neither receipts nor cut short by a crash: the file was edited or damaged. */
  readonly strange: number;
  /** Highest counter in any receipt; 0 if there is none. */
  readonly counter: number;
}

/** Limit on steps that are between a receipt and its row at the same time. */
const underWay = 64;

/**
 * Returns each file's last receipt since a time (epoch milliseconds). Other lines are skipped and counted; the file is
 * not changed.
 *
 * @throws {LedgerError} if the file cannot be used
 */
export function receiptsSince(stateDir: string, since: number): Promise<ReadReceipts> {
  return newReceipts(stateDir, async (receipts) => receipts.filter(({ at }) => Date.parse(at) >= since));
}

/**
 * Returns the last receipt of each file if it is new. A file's earlier receipts are obsolete, no matter what their
 * revisions are. Reading stops when no older receipt can be new.
 *
 * @throws {LedgerError} if the file cannot be used
 */
export async function newReceipts(
  stateDir: string,
  newOnes: (receipts: readonly Receipt[]) => Promise<readonly Receipt[]>,
): Promise<ReadReceipts> {
  const size = await sizeOfUsableFile(receiptsPath(stateDir));
  if (size === null) return { receipts: [], strange: 0, counter: 0 };
  await using file = await open(receiptsPath(stateDir), 'r');
  for (let length = firstReadBytes; ; length *= 4) {
    const from = Math.max(0, size - length);
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size - from), position: from });
    const lines = buffer.subarray(0, bytesRead).toString().split('\n');
    // The first line is incomplete: it begins before the part that was read.
    const read = lines.slice(from === 0 ? 0 : 1).map(parse);
    const receipts = read.filter((line) => typeof line === 'object');
    const counters = read.filter((line) => typeof line === 'number');
    const oldest = receipts.slice(0, underWay);
    if (from === 0 || (oldest.length === underWay && (await newOnes(oldest)).length === 0)) {
      const strange = read.filter((line) => line === 'strange').length;
      const last = new Map(receipts.map((receipt) => [receipt.id, receipt]));
      return { receipts: await newOnes([...last.values()]), strange, counter: Math.max(0, ...counters) };
    }
  }
}

/** Whether a receipt is ahead of a row. Compares revisions, because the clock may have been changed. */
export function saysMore({ rev }: Receipt, row: Pick<Facts, 'rev'>): boolean {
  return rev >= row.rev;
}

function receiptOf(step: Receipt['step'], facts: Facts): Receipt {
  return {
    v: 1,
    at: new Date().toISOString(),
    step,
    id: facts.id,
    rev: facts.rev,
    folder: facts.folder,
    path: facts.path,
    version: facts.version,
    source_url: facts.sourceUrl,
    plan: facts.plan,
    on_duplicate: facts.onDuplicate,
    after_ready: facts.afterReady,
    discovered_at: facts.discoveredAt,
    video_id: facts.videoId,
    upload_url: facts.uploadUrl,
    ...(facts.uploadHeaders !== null && { upload_headers: facts.uploadHeaders }),
    sha256: facts.sha256,
    ...(step === 'taken back' && { why: facts.lastFailure?.message ?? step }),
  };
}

/** Parses a line. @returns a number for a counter receipt */
function parse(line: string): Receipt | number | 'torn' | 'strange' {
  try {
    const value: unknown = JSON.parse(line);
    const counter = counterOf(value);
    if (counter !== null) return counter;
    return isReceipt(value) ? value : 'strange';
  } catch {
    return line === '' || (line.startsWith('{') && !line.endsWith('}')) ? 'torn' : 'strange';
  }
}

function counterOf(value: unknown): number | null {
  const { counter } = (value ?? {}) as { readonly counter?: unknown };
  return typeof counter === 'number' && Number.isSafeInteger(counter) && counter >= 0 ? counter : null;
}

/** Checks only the fields that a row needs, because only `receiptOf` writes these lines. */
function isReceipt(value: unknown): value is Receipt {
  if (typeof value !== 'object' || value === null) return false;
  const { at, id, rev, folder, path, version } = value as Partial<Record<keyof Receipt, unknown>>;
  const isText = [at, id, folder, path].every((each) => typeof each === 'string');
  return (
    isText &&
    Number.isSafeInteger(rev) &&
    !Number.isNaN(Date.parse(String(at))) &&
    typeof version === 'object' &&
    version !== null
  );
}

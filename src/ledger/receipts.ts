import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Receipts } from '../pipeline/file/ports.ts';
import { openAppendLog } from './append-log.ts';
import { sizeOfUsableFile } from './state-directory.ts';
import { translated } from './unavailable.ts';

/** A line of `receipts.jsonl`: enough to rebuild a row and continue from there. */
export interface Receipt {
  readonly v: 1;
  /** ISO 8601. */
  readonly at: string;
  readonly step: Parameters<Receipts['append']>[0];
  readonly id: string;
  /** Revision that the row had before it was written. */
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
  /** Missing: none. */
  readonly upload_headers?: Readonly<Record<string, string>>;
  readonly sha256: string | null;
}

/** Receipts of how far the ledger is: lines of their own, `{"v":1,"at":…,"counter":17}`. */
export interface CounterReceipts {
  /** On disk when its promise resolves. */
  note(counter: number): Promise<void>;
}

/**
 * `receipts.jsonl`: the only facts that neither the disk nor the service can restore (which file has which video, and
 * where its bytes go), in case the ledger is lost (design 5.9). It is as private as the ledger.
 *
 * @returns the receipts, whose `append` rejects with `LedgerUnavailableError` while the disk refuses
 * @throws {LedgerError} when it cannot be opened
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

/** Reading starts at the end of the file and stops early: it holds years of receipts, and every start reads it. */
const firstReadBytes = 64 * 1024;

export interface ReadReceipts {
  /** Oldest first. */
  readonly receipts: readonly Receipt[];
  /** Number of lines that are neither receipts nor cut short by a crash: the file was edited or damaged. */
  readonly strange: number;
  /** The highest that a receipt has; 0 without one. */
  readonly counter: number;
}

/** Limit of steps that are between a receipt and its row at the same time. */
const underWay = 64;

/**
 * The receipts since a time, in epoch milliseconds. Other lines are left out and counted; the file is not changed.
 *
 * @throws {LedgerError} when the file cannot be used
 */
export function receiptsSince(stateDir: string, since: number): Promise<ReadReceipts> {
  return newReceipts(stateDir, async (receipts) => receipts.filter(({ at }) => Date.parse(at) >= since));
}

/**
 * The last receipt of each file, if it is new. Earlier receipts of a file are obsolete, whatever their revision.
 * Reading stops where no further new receipt can follow.
 *
 * @throws {LedgerError} when the file cannot be used
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
    // The first line is cut: it begins before what was read.
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

/** Whether a receipt is ahead of a row. Revisions decide, because the clock may have been changed. */
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
  };
}

/** @returns the number of a receipt of the counter */
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

/** Only `receiptOf` writes these lines, so only the fields that a row needs are checked. */
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

import { basename, dirname, join } from 'node:path';
import { LedgerUnavailableError } from '../../pipeline/file/store-errors.ts';
import { backupsOf } from './backups.ts';
import { LedgerError, LedgerInUseError, refusal } from '../ledger-error.ts';
import { receiptsPath } from '../receipts.ts';
import { isUsableDirectory, sizeOfUsableFile } from '../state-directory.ts';
import { translated } from '../ledger-error.ts';

/** Returns the path of the ledger in a state directory. */
export function ledgerPath(stateDir: string): string {
  return join(stateDir, 'ledger.db');
}

/**
 * Whether a ledger exists, without opening it. An empty file does not count, because an interrupted first start leaves
 * one.
 *
 * @returns false if nothing was ever written
 * @throws {LedgerError} if the ledger was lost: starting from nothing would upload everything again
 */
export async function isLedgerThere(stateDir: string): Promise<boolean> {
  if (!(await isUsableDirectory(stateDir))) return false;
  const path = ledgerPath(stateDir);
  const size = await sizeOfUsableFile(path);
  if (size !== null && size > 0) return true;
  const receipts = (await sizeOfUsableFile(receiptsPath(stateDir))) ?? 0;
  if (receipts === 0) return false;
  throw new LedgerError(
    `${path} is ${size === null ? 'missing' : 'empty'}, but receipts.jsonl next to it lists uploads, and dropcast would make ` +
      `them all again: ${await wayBack(path)}; to start from scratch, move receipts.jsonl elsewhere too`,
  );
}

/**
 * Turns an error from opening the ledger into a sentence.
 *
 * @throws the error itself if neither SQLite nor the system refused anything, which is a bug
 */
export async function explainOpening(thrown: unknown, path: string): Promise<LedgerError> {
  // A file system error is more specific than its translated reason: it names a quota or an owner.
  const isOfFileSystem = thrown instanceof Error && 'syscall' in thrown;
  const error = isOfFileSystem ? thrown : translated(thrown, path);
  if (!(error instanceof LedgerUnavailableError)) return refusal(path, error);
  const said = error.cause instanceof Error ? error.cause.message : error.message;
  const options = { cause: error };
  switch (error.reason) {
    case 'busy':
      return new LedgerInUseError(`${path} is in use by another process`, options);
    case 'damaged':
      return damaged(path, said, options);
    case 'disk full':
      return new LedgerError(`${path} cannot be used: the disk is full`, options);
    default:
      return new LedgerError(`${path} cannot be used: ${said}`, options);
  }
}

/** Creates the error for a damaged ledger, with instructions to restore it. */
export async function damaged(path: string, found: string, options?: ErrorOptions): Promise<LedgerError> {
  const wal = `${basename(path)}-wal`;
  return new LedgerError(
    `${path} is damaged or not a ledger (${found}): move it and ${wal} elsewhere together, then ${await wayBack(path)}`,
    options,
  );
}

async function wayBack(path: string): Promise<string> {
  // After a crash while copies were being shifted, the first one is missing.
  const [backup] = await backupsOf(dirname(path));
  if (backup === undefined) return 'put a copy in its place (backups/ holds none)';
  // The chown is needed because root's `cp` would leave a ledger that the service cannot open.
  const commands = `cp ${backup} ${path} && chown --reference=${dirname(path)} ${path}`;
  return `put a copy of ${backup} in its place, with no ${basename(path)}-wal next to it (as root: \`${commands}\`)`;
}

import { basename, dirname, join } from 'node:path';
import { newestBackup } from './backups.ts';
import { receiptsPath } from './receipts.ts';
import { LedgerError } from './schema.ts';
import { isUsableDirectory, sizeOfUsableFile } from './usable.ts';

/** Where the ledger of a state directory is. */
export function ledgerPath(stateDir: string): string {
  return join(stateDir, 'ledger.db');
}

/**
 * Looks whether a ledger is there, without opening it.
 *
 * @returns false when nothing was ever written; a file without a byte is what a first start leaves that was cut short
 * @throws {LedgerError} when there was one: to start anew would upload everything again
 */
export async function isLedgerThere(stateDir: string): Promise<boolean> {
  if (!(await isUsableDirectory(stateDir))) return false;
  const path = ledgerPath(stateDir);
  const size = await sizeOfUsableFile(path);
  if (size !== null && size > 0) return true;
  const receipts = (await sizeOfUsableFile(receiptsPath(stateDir))) ?? 0;
  if (receipts === 0) return false;
  throw new LedgerError(
    `${path} is ${size === null ? 'missing' : 'empty'}, but receipts.jsonl beside it names uploads, which would all be made again: ` +
      `${await wayBack(path)}; or move receipts.jsonl away too if a fresh start is meant`,
  );
}

/** @returns the error that says so, with the way back */
export async function damaged(path: string, found: string, options?: ErrorOptions): Promise<LedgerError> {
  const wal = `${basename(path)}-wal`;
  return new LedgerError(
    `${path} is damaged or no ledger (${found}): move it and ${wal} aside together, then ${await wayBack(path)}`,
    options,
  );
}

async function wayBack(path: string): Promise<string> {
  const backup = await newestBackup(dirname(path));
  if (backup === null) return 'put a copy in its place (there is none in backups/)';
  // Also where the copies are root's, so that the service can open what is put there with sudo.
  const commands = `cp ${backup} ${path} && chown --reference=${dirname(path)} ${path}`;
  return `put a copy of ${backup} in its place, with no ${basename(path)}-wal beside it (as root: \`${commands}\`)`;
}

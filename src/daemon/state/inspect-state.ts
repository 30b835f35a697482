import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { errnoOf } from '../../errno.ts';
import { linkInstead } from '../../ledger/append-log.ts';
import { openExistingLedger } from '../../ledger/ledger.ts';
import { receiptsPath } from '../../ledger/receipts.ts';
import { LedgerError, LedgerInUseError, refusal } from '../../ledger/ledger-error.ts';
import { sizeOfUsableFile, stateDirectory } from '../../ledger/state-directory.ts';
import { callDaemon } from '../control/client.ts';
import { strayFiles } from './state-owner.ts';

/**
 * Returns problems with the state directory, one sentence each. If a daemon responds or another command has the ledger
 * open, its files have already been checked. Whether they are still writable is always checked. Creates nothing.
 *
 * @param isShared the ledger is in a database, not in this directory
 */
export async function inspectState(
  { stateDir, failureLog }: Pick<Config, 'stateDir' | 'failureLog'>,
  socketPath: string,
  isShared = false,
): Promise<readonly string[]> {
  const always = [await strayFiles(stateDir), (await fullDisk(stateDir)) ?? (await refusedWrite(stateDir))];
  if (await isRunning(socketPath)) return always.flatMap((message) => message ?? []);
  const found = [
    ...always,
    ...(isShared ? [] : await tryLedger(stateDir)),
    await refusalOf(() => sizeOfUsableFile(receiptsPath(stateDir))),
    // A symbolic link there does not stop work.
    (await linkInstead(failureLog)) === null ? await refusalOf(() => sizeOfUsableFile(failureLog)) : null,
  ];
  // Removes repetitions: the ledger's message covers the receipts too.
  return [...new Set(found.flatMap((message) => message ?? []))];
}

/** Minimum free space in bytes: enough for a new ledger and its log. */
const leastFreeBytes = 1024 * 1024;

/** Reports a full disk, on which a daemon could not record its work. */
async function fullDisk(stateDir: string): Promise<string | null> {
  const disk = await statfs(stateDir).catch(() => null);
  if (disk === null || disk.bavail * disk.bsize >= leastFreeBytes) return null;
  return `the disk of ${stateDirectory(stateDir)} is full (${disk.bavail * disk.bsize} bytes free): free some space`;
}

/** Finds problems that only a write reveals: an exhausted quota, a failing disk, one that became read-only. */
async function refusedWrite(stateDir: string): Promise<string | null> {
  const probe = join(stateDir, `check.${process.pid}`);
  try {
    await using file = await open(probe, 'wx', 0o600);
    await file.writeFile(Buffer.alloc(probeBytes));
    await file.datasync();
    return null;
  } catch (error) {
    // The daemon creates the directory when it starts.
    if (errnoOf(error) === 'ENOENT') return null;
    return (await refusal(stateDir, error, stateDirectory(stateDir))).message;
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
}

const probeBytes = 16 * 1024;

async function isRunning(socketPath: string): Promise<boolean> {
  try {
    await callDaemon(socketPath, 'GET', '/status');
    return true;
  } catch {
    return false;
  }
}

/** Opening checks every row. Repairs are reported by the first process that opens the ledger. */
async function tryLedger(stateDir: string): Promise<readonly (string | null)[]> {
  let repairs: readonly string[] = [];
  const refusal = await refusalOf(async () => {
    await using ledger = await openExistingLedger(stateDir);
    repairs = ledger?.repairs ?? [];
  });
  return [refusal, ...repairs];
}

async function refusalOf(look: () => Promise<unknown>): Promise<string | null> {
  try {
    await look();
    return null;
  } catch (error) {
    if (error instanceof LedgerInUseError) return null;
    if (error instanceof LedgerError) return error.message;
    throw error;
  }
}

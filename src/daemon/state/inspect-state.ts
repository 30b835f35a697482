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
 * Problems of the state directory, one sentence each. A daemon that answers, or another command that has the ledger
 * open, has found its files in order; whether they can still be written is checked in any case. Nothing is created.
 *
 * @param isShared the ledger is in a database, and not here
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
    // A link there stops no work.
    (await linkInstead(failureLog)) === null ? await refusalOf(() => sizeOfUsableFile(failureLog)) : null,
  ];
  // The ledger speaks of the receipts too.
  return [...new Set(found.flatMap((message) => message ?? []))];
}

/** Enough for the ledger and its log to begin with. */
const leastFreeBytes = 1024 * 1024;

/** On a full disk a daemon could not record what it does. */
async function fullDisk(stateDir: string): Promise<string | null> {
  const disk = await statfs(stateDir).catch(() => null);
  if (disk === null || disk.bavail * disk.bsize >= leastFreeBytes) return null;
  return `the disk of ${stateDirectory(stateDir)} is full (${disk.bavail * disk.bsize} bytes free): free some space`;
}

/** What only a write tells: a used-up quota, a disk that fails or became read-only. */
async function refusedWrite(stateDir: string): Promise<string | null> {
  const probe = join(stateDir, `check.${process.pid}`);
  try {
    await using file = await open(probe, 'wx', 0o600);
    await file.writeFile(Buffer.alloc(probeBytes));
    await file.datasync();
    return null;
  } catch (error) {
    // The directory is made when the daemon starts.
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

/** Opening checks every row. The first process that opens the ledger reports what it repaired. */
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

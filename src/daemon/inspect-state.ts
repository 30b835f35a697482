import { join } from 'node:path';
import { openExistingLedger } from '../ledger/ledger.ts';
import { LedgerError, LedgerInUseError } from '../ledger/schema.ts';
import { sizeOfUsableFile } from '../ledger/usable.ts';
import { callDaemon } from './control-client.ts';

/**
 * What is wrong with the state directory, one sentence each. A daemon that answers, or another command that has the ledger
 * open, has found it in order. What is not there yet is not made.
 */
export async function inspectState(stateDir: string, socketPath: string): Promise<readonly string[]> {
  if (await isRunning(socketPath)) return [];
  const found = [
    await refusalOf(() => tryLedger(stateDir)),
    ...(await Promise.all(logs.map((name) => refusalOf(() => sizeOfUsableFile(join(stateDir, name)))))),
  ];
  // The ledger speaks of the receipts too.
  return [...new Set(found.flatMap((message) => message ?? []))];
}

const logs = ['receipts.jsonl', 'failures.jsonl'] as const;

async function isRunning(socketPath: string): Promise<boolean> {
  try {
    await callDaemon(socketPath, 'GET', '/status');
    return true;
  } catch {
    return false;
  }
}

async function tryLedger(stateDir: string): Promise<void> {
  const ledger = await openExistingLedger(stateDir);
  await ledger?.[Symbol.asyncDispose]();
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

import { open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../errno.ts';
import { LedgerError } from './ledger-error.ts';
import { explainOpening } from './sqlite/recovery.ts';

/** How long to wait for another process that is checking or taking the lock at the same moment, in milliseconds. */
const patienceMs = 300;

/** Longest delay between two attempts, in milliseconds. */
const betweenMs = 50;

/**
 * Locks a file. The kernel releases the lock if the process dies. The lock is an open SQLite transaction on an empty
 * database, because Node has no file locks. The file is private, so no other user can take the lock, and it is never
 * written.
 *
 * This process must never open the file with `fs`: closing such a descriptor drops the lock.
 *
 * @returns null if another process holds the lock
 * @throws {LedgerError} if the file cannot be used
 */
export async function lockFile(path: string): Promise<AsyncDisposable | null> {
  await createPrivate(path);
  const end = performance.now() + patienceMs;
  for (;;) {
    const held = await tryLock(path, 'BEGIN EXCLUSIVE');
    if (held !== null || performance.now() >= end) return held;
    await sleep(Math.random() * betweenMs);
  }
}

/** Whether a process holds the lock. Creates no file. */
export async function isFileLocked(path: string): Promise<boolean> {
  try {
    const asked = await tryLock(path, 'BEGIN; SELECT count(*) FROM sqlite_schema', { readOnly: true });
    await asked?.[Symbol.asyncDispose]();
    return asked === null;
  } catch {
    return false;
  }
}

async function createPrivate(path: string): Promise<void> {
  try {
    await (await open(path, 'wx', 0o600)).close();
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw await explainOpening(error, path);
  }
}

async function tryLock(path: string, transaction: string, options = {}): Promise<AsyncDisposable | null> {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, options);
    database.exec(transaction);
    const held = database;
    return { [Symbol.asyncDispose]: async () => held.close() };
  } catch (error) {
    database?.close();
    const result = error instanceof Error && 'errcode' in error ? error.errcode : null;
    if (result === busy) return null;
    if (result === notADatabase)
      throw new LedgerError(`${path} is not the lock that dropcast created: remove it, and start again`, {
        cause: error,
      });
    throw await explainOpening(error, path);
  }
}

/** `SQLITE_BUSY` and `SQLITE_NOTADB` (sqlite.org/rescode.html). */
const busy = 5;
const notADatabase = 26;

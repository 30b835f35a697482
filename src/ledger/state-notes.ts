import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../disk/sync-path.ts';
import { errnoOf } from '../errno.ts';
import { LedgerError } from './ledger-error.ts';

/** File with the ledger's id, for another dropcast that checks a folder's owner and cannot read an open ledger. */
const idFile = 'ledger.id';

/**
 * File that names the database with the current ledger. `ledger.db` is then stale: using it would repeat other hosts'
 * uploads.
 */
const elsewhereFile = 'ledger.elsewhere';

/**
 * Reads the id that this state directory's folders are marked with, or null. A ledger that replaces a lost one keeps
 * the id. Otherwise its own folders would seem to belong to another ledger, and nothing would show that the other one
 * is gone.
 */
export async function readLedgerId(stateDir: string): Promise<string | null> {
  const text = await readFile(join(stateDir, idFile), 'utf8').catch(() => '');
  return /^([0-9a-f]{32})\n$/.exec(text)?.[1] ?? null;
}

export async function writeLedgerId(stateDir: string, id: string): Promise<void> {
  if ((await readLedgerId(stateDir)) !== id) await write(stateDir, idFile, id);
}

/** Records that the ledger is in a database. @param name display name, such as `PostgreSQL at db.example.com` */
export async function noteLedgerElsewhere(stateDir: string, name: string): Promise<void> {
  if ((await placeElsewhere(stateDir)) !== name) await write(stateDir, elsewhereFile, name);
}

/** @throws {LedgerError} if the ledger of this state directory is in a database */
export async function requireLedgerHere(stateDir: string): Promise<void> {
  const name = await placeElsewhere(stateDir);
  if (name === null) return;
  throw new LedgerError(
    `the ledger of ${stateDir} is in ${name} now: set \`ledger\` in the configuration again, or bring it back with \`dropcast ledger copy --from ADDRESS\``,
  );
}

/** Records that the ledger is in the state directory again. */
export async function forgetLedgerElsewhere(stateDir: string): Promise<void> {
  await rm(join(stateDir, elsewhereFile), { force: true });
  await syncPath(stateDir);
}

/** Names the database with the ledger. @returns null if the ledger is in the state directory, or there is none yet */
export async function placeElsewhere(stateDir: string): Promise<string | null> {
  try {
    return (await readFile(join(stateDir, elsewhereFile), 'utf8')).trim();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces a file's text. After a crash, the file has either the old or the new text. */
async function write(stateDir: string, name: string, text: string): Promise<void> {
  const path = join(stateDir, name);
  {
    await using file = await open(`${path}.new`, 'w', 0o600);
    await file.writeFile(`${text}\n`);
    await file.sync();
  }
  await rename(`${path}.new`, path);
  await syncPath(stateDir);
}

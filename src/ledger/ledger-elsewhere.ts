import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../errno.ts';
import { syncPath } from '../disk/sync-path.ts';
import { LedgerError } from './ledger-error.ts';

const fileName = 'ledger.elsewhere';

/**
 * Notes in the state directory that its ledger is in a database. What lies in `ledger.db` is old from then on, and who went on with it would
 * upload again what other hosts have uploaded since.
 *
 * @param name as sentences call the database: `PostgreSQL at db.example.com`
 */
export async function noteLedgerElsewhere(stateDir: string, name: string): Promise<void> {
  if ((await placeElsewhere(stateDir)) === name) return;
  const path = join(stateDir, fileName);
  {
    await using file = await open(`${path}.new`, 'w', 0o600);
    await file.writeFile(`${name}\n`);
    await file.sync();
  }
  await rename(`${path}.new`, path);
  await syncPath(stateDir);
}

/** @throws {LedgerError} the ledger of this state directory is in a database */
export async function requireLedgerHere(stateDir: string): Promise<void> {
  const name = await placeElsewhere(stateDir);
  if (name === null) return;
  throw new LedgerError(
    `the ledger of ${stateDir} is in ${name} now: set \`ledger\` in the configuration again, or bring it back with \`dropcast ledger copy --from ADDRESS\``,
  );
}

/** The ledger is in the state directory again. */
export async function forgetLedgerElsewhere(stateDir: string): Promise<void> {
  await rm(join(stateDir, fileName), { force: true });
  await syncPath(stateDir);
}

/** @returns null when it is here, or there is none yet */
export async function placeElsewhere(stateDir: string): Promise<string | null> {
  try {
    return (await readFile(join(stateDir, fileName), 'utf8')).trim();
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}

import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../disk/sync-path.ts';

const fileName = 'ledger.id';

/**
 * The id that the folders of this state directory are marked with, or null. A ledger that takes the place of a lost one keeps it: else
 * its own folders would be another's, on a machine where nobody can know that the other is gone.
 */
export async function readLedgerId(stateDir: string): Promise<string | null> {
  const text = await readFile(join(stateDir, fileName), 'utf8').catch(() => '');
  return /^([0-9a-f]{32})\n$/.exec(text)?.[1] ?? null;
}

/** Beside the ledger, because an open ledger cannot be asked: another dropcast looks whether the owner of a folder is still there. */
export async function writeLedgerId(stateDir: string, id: string): Promise<void> {
  if ((await readLedgerId(stateDir)) === id) return;
  const path = join(stateDir, fileName);
  {
    await using file = await open(`${path}.new`, 'w', 0o600);
    await file.writeFile(`${id}\n`);
    await file.sync();
  }
  await rename(`${path}.new`, path);
  await syncPath(stateDir);
}

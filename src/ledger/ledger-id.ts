import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../disk/sync-path.ts';

/** Beside the ledger, because an open ledger cannot be asked: another dropcast looks whether the owner of a folder is still there. */
export async function writeLedgerId(stateDir: string, id: string): Promise<void> {
  const path = join(stateDir, 'ledger.id');
  const known = await readFile(path, 'utf8').catch(() => '');
  if (known.trim() === id) return;
  {
    await using file = await open(`${path}.new`, 'w', 0o600);
    await file.writeFile(`${id}\n`);
    await file.sync();
  }
  await rename(`${path}.new`, path);
  await syncPath(stateDir);
}

import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { accountName } from '../passwd.ts';

/**
 * Returns the Unix owner of a file: the name in passwd(5), or the number if it has none, as for users of a directory
 * service. Null if the file is gone.
 */
export async function ownerOf(folder: string, path: string): Promise<string | null> {
  const stats = await lstat(join(folder, path)).catch(() => null);
  if (stats === null) return null;
  return accountName(stats.uid, await readFile('/etc/passwd', 'utf8').catch(() => ''));
}

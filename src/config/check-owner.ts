import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { userName } from './user-name.ts';

/**
 * Why a configuration that lay in the current directory is not taken: who wrote it says which secrets are read and where they go,
 * and with `sudo` in a folder of another user that would be this user (as git's `safe.directory`, CVE-2022-24765).
 *
 * @param stat of the file that is open
 * @returns null when it belongs to root or to whoever runs this, and so does the link that led to it
 */
export async function checkOwner(path: string, stat: Pick<Stats, 'uid'>): Promise<string | null> {
  const user = process.geteuid?.();
  // No users to tell apart (Windows).
  if (user === undefined) return null;
  const link = await lstat(path);
  const other = [stat.uid, link.uid].find((uid) => uid !== 0 && uid !== user);
  if (other === undefined) return null;
  return `it was only found in the current directory and belongs to ${await userName(other)}, who could have the key sent anywhere; if it is meant, name it with --config`;
}

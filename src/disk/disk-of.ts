import { lstat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Disk } from '../pipeline/rounds/retention.ts';

/** How full the file system of a folder is, as `df` counts: what is reserved for root is not there. Null when it does not say. */
export async function diskOf(folder: string): Promise<Disk | null> {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(folder);
    const used = (blocks - bfree) * bsize;
    return { used, size: used + bavail * bsize };
  } catch {
    return null;
  }
}

/**
 * Bytes that the deletion of a file frees, as far as a look tells: less than its size where it has holes, and 0 while its content has other
 * hard links.
 *
 * @returns null when it is not there
 */
export async function freedBy({ folder, path }: Pick<Facts, 'folder' | 'path'>): Promise<number | null> {
  try {
    const { nlink, size, blocks } = await lstat(join(folder, path));
    // Some file systems do not count blocks.
    return nlink > 1 ? 0 : Math.min(size, 512 * blocks) || size;
  } catch {
    return null;
  }
}

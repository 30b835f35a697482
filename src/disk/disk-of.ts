import { lstat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Disk } from '../pipeline/rounds/retention.ts';

/**
 * How full the file system of a folder is, counted as `df` does, without the share reserved for root. Null when it
 * gives no figures.
 */
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
 * Bytes that the deletion of a file frees, as far as its metadata shows: less than its size if it has holes, and 0
 * while its content has other hard links.
 *
 * @returns null when the file is missing
 */
export async function freedBy({ folder, path }: Pick<Facts, 'folder' | 'path'>): Promise<number | null> {
  try {
    const { nlink, size, blocks } = await lstat(join(folder, path));
    // Some file systems report no blocks.
    return nlink > 1 ? 0 : Math.min(size, 512 * blocks) || size;
  } catch {
    return null;
  }
}

import { lstat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Facts } from '../pipeline/file/facts.ts';
import type { Disk } from '../pipeline/rounds/retention.ts';

/**
 * Returns how full a folder's file system is, counted like `df`, without the share reserved for root. Null if the file
 * system reports no figures.
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
 * Returns how many bytes deleting a file would free, according to its metadata: less than its size if it has holes, and
 * 0 while its content has other hard links.
 *
 * @returns null if the file is missing
 */
export async function freedBy({ folder, path }: Pick<Facts, 'folder' | 'path'>): Promise<number | null> {
  try {
    const { nlink, size, blocks } = await lstat(join(folder, path));
    // Some file systems report zero blocks.
    return nlink > 1 ? 0 : Math.min(size, 512 * blocks) || size;
  } catch {
    return null;
  }
}

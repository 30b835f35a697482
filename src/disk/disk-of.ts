import { statfs } from 'node:fs/promises';
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

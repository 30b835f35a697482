import { lstat, statfs, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
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

/**
 * Returns the time on the clock that stamps files in a directory. A share has its own clock, and a local disk's is a
 * few milliseconds behind ours. The time is read from a hidden file, which is created and removed.
 *
 * @returns nanoseconds since the epoch. If no file can be created, `isItsOwn` is false and the time is one second ago
 *   on our own clock
 */
export async function fileSystemNow(directory: string): Promise<{ readonly ns: bigint; readonly isItsOwn: boolean }> {
  const path = join(directory, `.dropcast-now-${randomBytes(6).toString('hex')}`);
  try {
    await using file = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o600);
    const { ctimeNs } = await file.stat({ bigint: true });
    await unlink(path);
    return { ns: ctimeNs, isItsOwn: true };
  } catch {
    return { ns: BigInt(Date.now() - 1_000) * 1_000_000n, isItsOwn: false };
  }
}

/** Makes a file, or the names in a directory, durable. A new file is only as durable as its name. */
export async function syncPath(path: string): Promise<void> {
  // O_NONBLOCK avoids waiting for a FIFO at the path.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

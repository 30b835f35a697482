import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

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

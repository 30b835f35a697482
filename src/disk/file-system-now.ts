import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The time on the clock that stamps the files of a directory: a share has its own clock, and the one of a local disk is
 * a few milliseconds behind. It is read from a hidden file, which is created and removed.
 *
 * @returns nanoseconds since the epoch; one second ago on our own clock if no file can be created, and then `isItsOwn`
 *   is false
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

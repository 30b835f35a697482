import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * What time it is by the clock that stamps the files of a directory: a share has its own, and the one of a local disk is a few
 * milliseconds behind. A hidden file that is made and removed tells.
 *
 * @returns nanoseconds since the epoch; a second ago by our own clock where no file can be made, which is not `isItsOwn`
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

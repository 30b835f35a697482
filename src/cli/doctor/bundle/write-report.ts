import { lstat, open, rm } from 'node:fs/promises';
import { CommandError, exitCodes } from '../../shell.ts';

/**
 * Writes a report that only its owner reads. A report that was there is replaced; nothing is written through a link, which somebody
 * else may have put there for root to follow.
 *
 * @throws {CommandError} when it cannot be written
 */
export async function writeReport(path: string, content: Buffer): Promise<void> {
  try {
    const before = await lstat(path).catch(() => null);
    if (before?.isFile() === true) await rm(path);
    await using file = await open(path, 'wx', 0o600);
    await file.writeFile(content);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const why = error.code === 'EEXIST' ? 'something that is no file has this name' : error.message;
    throw new CommandError(`cannot write the report ${path}: ${why}`, exitCodes.failed, { cause: error });
  }
}

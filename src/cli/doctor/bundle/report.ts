import { lstat, open, rm } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { CommandError, exitCodes } from '../../shell.ts';

export interface TarEntry {
  readonly name: string;
  readonly content: string;
}

/**
 * Writes a report that only its owner can read, replacing an earlier one. Never writes through a link, which another
 * user may have put there for root to follow.
 *
 * @param at modification time of the archived files, in epoch milliseconds
 * @throws {CommandError} when the report cannot be written
 */
export async function writeReport(path: string, entries: readonly TarEntry[], at: number): Promise<void> {
  try {
    const before = await lstat(path).catch(() => null);
    if (before?.isFile() === true) await rm(path);
    await using file = await open(path, 'wx', 0o600);
    await file.writeFile(tarball(entries, at));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    const why = error.code === 'EEXIST' ? 'something that is not a regular file has this name' : error.message;
    throw new CommandError(`cannot write the report ${path}: ${why}`, exitCodes.failed, { cause: error });
  }
}

const block = 512;

/** Creates a gzipped archive (POSIX.1-1988, `ustar`) of text files without owners. */
function tarball(entries: readonly TarEntry[], at: number): Buffer {
  const parts = entries.flatMap(({ name, content }) => {
    const bytes = Buffer.from(content);
    return [header(name, bytes.length, at), bytes, Buffer.alloc(-bytes.length & (block - 1))];
  });
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]));
}

function header(name: string, size: number, at: number): Buffer {
  const bytes = Buffer.alloc(block);
  const put = (text: string, offset: number): void => void bytes.write(text, offset, 'latin1');
  const octal = (number: number, digits: number): string => `${number.toString(8).padStart(digits, '0')}\0`;
  put(name, 0);
  put(octal(0o644, 7), 100);
  put(octal(0, 7), 108);
  put(octal(0, 7), 116);
  put(octal(size, 11), 124);
  put(octal(Math.floor(at / 1000), 11), 136);
  put('        ', 148);
  put('0', 156);
  put('ustar', 257);
  put('00', 263);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 6)} `, 148);
  return bytes;
}

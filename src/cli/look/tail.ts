import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

const lookAgainMs = 500;

const chunkBytes = 64 * 1024;

/** Maximum line length to keep. dropcast writes no longer ones. */
const mostLineCharacters = 1024 * 1024;

/**
 * Reads an append-only log that may be rotated at any time. Yields the existing lines, then null, then new lines until
 * the signal fires. After a rotation, finishes the old file before starting on the new one.
 *
 * Refuses links and FIFOs, so that a reader running as root cannot be led to another file.
 */
export async function* tail(path: string, signal: AbortSignal): AsyncGenerator<string | null> {
  let file = await openLog(path);
  let rest = '';
  let position = 0;
  let isBehind = true;
  try {
    while (!signal.aborted) {
      if (file !== null) {
        for (;;) {
          const { bytesRead, buffer } = await file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, position);
          if (bytesRead === 0) break;
          position += bytesRead;
          // latin1 preserves a multi-byte character split between chunks until its line is complete.
          const lines = (rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
          rest = (lines.pop() ?? '').slice(0, mostLineCharacters);
          for (const line of lines) yield Buffer.from(line, 'latin1').toString('utf8');
        }
      }
      if (isBehind) yield null;
      isBehind = false;
      await delay(lookAgainMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || !(await isOther(file, path, position))) continue;
      const next = await openLog(path);
      if (next === null) continue;
      // Lines were written between the last read and the rotation.
      if (file !== null && (await file.stat()).size > position && (await isMoved(file, next))) {
        await next.close();
        continue;
      }
      await file?.close();
      [file, rest, position] = [next, '', 0];
    }
  } finally {
    await file?.close();
  }
}

/** Reads the lines of a file that is no longer being written. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  const file = await openLog(path);
  if (file === null) return;
  yield* createInterface({ input: file.createReadStream(), crlfDelay: Infinity });
}

/** @returns null if the file does not exist (yet) */
async function openLog(path: string): Promise<FileHandle | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new Error(`${path} is not a regular file`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function isOther(file: FileHandle | null, path: string, position: number): Promise<boolean> {
  const there = await stat(path, { bigint: true }).catch(() => null);
  if (there === null) return false;
  if (file === null) return true;
  const { ino, dev } = await file.stat({ bigint: true });
  // A smaller file was truncated, as by logrotate's `copytruncate`.
  return there.ino !== ino || there.dev !== dev || there.size < position;
}

async function isMoved(file: FileHandle, next: FileHandle): Promise<boolean> {
  return (await file.stat()).ino !== (await next.stat()).ino;
}

import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncPath } from './sync-path.ts';
import { refusal, sizeOfUsableFile } from './usable.ts';

/** A file of JSON lines that is only ever appended to; a line is on disk when its promise resolves. */
export interface AppendLog extends AsyncDisposable {
  append(line: Readonly<Record<string, unknown>>): Promise<void>;
}

/**
 * @param path created with mode 0600 when it is missing; a last line that a crash tore is closed by a newline first
 * @returns a log whose `append` rejects with what the system says: the caller decides whether work may go on
 * @throws {LedgerError} when it cannot be opened
 */
export async function openAppendLog(path: string): Promise<AppendLog> {
  try {
    await sizeOfUsableFile(path);
    return await openFile(path);
  } catch (error) {
    throw await refusal(path, error);
  }
}

async function openFile(path: string): Promise<AppendLog> {
  const file = await open(path, 'a+', 0o600);
  let isTorn = await isLastLineTorn(file);
  await syncPath(dirname(path));
  let last: Promise<void> = Promise.resolve();
  return {
    append: (line) => {
      const write = async (): Promise<void> => {
        const text = `${isTorn ? '\n' : ''}${JSON.stringify(line)}\n`;
        // Until it is written whole: a full disk takes half a line.
        isTorn = true;
        await file.appendFile(text);
        isTorn = false;
        await file.datasync();
      };
      last = last.then(write, write);
      return last;
    },
    [Symbol.asyncDispose]: async () => {
      await last.catch(() => undefined);
      await file.close();
    },
  };
}

async function isLastLineTorn(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read({ buffer: Buffer.alloc(1), position: size - 1 });
  return buffer[0] !== 0x0a;
}

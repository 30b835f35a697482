import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { escapeJson } from '../log/unsafe-characters.ts';
import { syncPath } from './sync-path.ts';
import { refusal, sizeOfUsableFile } from './usable.ts';

/**
 * A file of JSON lines that is only ever appended to; a line is on disk when its promise resolves. It may be shown on a terminal
 * as it is: what file names and answers could do there is escaped.
 */
export interface AppendLog extends AsyncDisposable {
  append(line: Readonly<Record<string, unknown>>): Promise<void>;
}

/**
 * @param path created with mode 0600 when it is missing; a last line that a crash tore is closed by a newline first
 * @returns a log whose `append` rejects with what the system says: the caller decides whether work may go on
 * @throws {LedgerError} when it cannot be opened
 */
export async function openAppendLog(path: string): Promise<AppendLog> {
  const file = await openUsable(path);
  const queue = createQueue();
  return {
    append: (line) => queue.add(() => writeLine(file, line)),
    [Symbol.asyncDispose]: async () => {
      await queue.idle();
      await file.close();
    },
  };
}

/**
 * The same for lines that are few, in a file that logrotate moves away: it is opened for each of them, so nobody has to tell
 * the daemon of a rotation, and none is written to the file of before.
 */
export async function openRotatedLog(path: string): Promise<AppendLog> {
  await (await openUsable(path)).close();
  const queue = createQueue();
  const append = async (line: Readonly<Record<string, unknown>>): Promise<void> => {
    await using file = await openFile(path);
    await writeLine(file, line);
  };
  return { append: (line) => queue.add(() => append(line)), [Symbol.asyncDispose]: () => queue.idle() };
}

async function openUsable(path: string): Promise<FileHandle> {
  try {
    await sizeOfUsableFile(path);
    const file = await openFile(path);
    await syncPath(dirname(path));
    return file;
  } catch (error) {
    throw await refusal(path, error);
  }
}

function openFile(path: string): Promise<FileHandle> {
  return open(path, 'a+', 0o600);
}

async function writeLine(file: FileHandle, line: Readonly<Record<string, unknown>>): Promise<void> {
  const text = escapeJson(JSON.stringify(line));
  // A crash or a full disk takes half a line: it must not take this one with it.
  await file.appendFile(`${(await isLastLineTorn(file)) ? '\n' : ''}${text}\n`);
  await file.datasync();
}

/** One line after the other. */
function createQueue(): { add(work: () => Promise<void>): Promise<void>; idle(): Promise<void> } {
  let last: Promise<void> = Promise.resolve();
  return {
    add: (work) => (last = last.then(work, work)),
    idle: () => last.catch(() => undefined),
  };
}

async function isLastLineTorn(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read({ buffer: Buffer.alloc(1), position: size - 1 });
  return buffer[0] !== 0x0a;
}

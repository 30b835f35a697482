import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { escapeJson } from '../log/unsafe-characters.ts';
import { syncPath } from '../disk/sync-path.ts';
import { refusal } from './ledger-error.ts';
import { sizeOfUsableFile } from './state-directory.ts';

/**
 * A file of JSON lines that only grows. It is safe to show on a terminal: control characters in file names and answers are
 * escaped. Closing waits for every line that was appended before.
 */
export interface AppendLog extends AsyncDisposable {
  /**
   * Lines are written in the order of the calls. Those that come while others are on their way to disk go there together.
   * @returns when the line is on disk; rejects with the error of the file system, and the next lines are tried all the same
   */
  append(line: Line): Promise<void>;
}

type Line = Readonly<Record<string, unknown>>;

/**
 * @param path created with mode 0600 when it is missing. A last line that a crash cut short is ended first
 * @throws {LedgerError} when it cannot be opened
 */
export async function openAppendLog(path: string): Promise<AppendLog> {
  const file = await openUsable(path);
  // Nobody else writes to it: after lines that were written in whole, the next one need not look.
  let isWhole = false;
  const batches = createBatches(async (lines) => {
    const mayBeTorn = !isWhole;
    isWhole = false;
    await writeLines(file, lines, mayBeTorn);
    isWhole = true;
  });
  return {
    append: batches.add,
    [Symbol.asyncDispose]: async () => {
      await batches.idle();
      await file.close();
    },
  };
}

/**
 * The same for few lines in a file that logrotate moves: each write opens the file, so nobody has to tell the daemon about a
 * rotation and no line ends up in the rotated file.
 *
 * @throws {LedgerError} when it cannot be opened
 */
export async function openRotatedLog(path: string): Promise<AppendLog> {
  await (await openUsable(path)).close();
  const batches = createBatches(async (lines) => {
    await using file = await openFile(path);
    await writeLines(file, lines, true);
  });
  return { append: batches.add, [Symbol.asyncDispose]: batches.idle };
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

async function writeLines(file: FileHandle, lines: readonly Line[], mayBeTorn: boolean): Promise<void> {
  const text = lines.map((line) => `${escapeJson(JSON.stringify(line))}\n`).join('');
  // A crash or a full disk may leave half a line, which must not swallow this one.
  await file.appendFile(`${mayBeTorn && (await isLastLineTorn(file)) ? '\n' : ''}${text}`);
  await file.datasync();
}

/** Lines that come while others are on their way to disk follow together, with one write. A failure does not stop the next. */
function createBatches(write: (lines: readonly Line[]) => Promise<void>): {
  add(line: Line): Promise<void>;
  idle(): Promise<void>;
} {
  let last: Promise<void> = Promise.resolve();
  let open: { readonly lines: Line[]; readonly written: Promise<void> } | null = null;
  const begin = (): NonNullable<typeof open> => {
    const lines: Line[] = [];
    const close = (): Promise<void> => {
      open = null;
      return write(lines);
    };
    last = last.then(close, close);
    return { lines, written: last };
  };
  return {
    add: (line) => {
      open ??= begin();
      open.lines.push(line);
      return open.written;
    },
    idle: () => last.catch(() => undefined),
  };
}

async function isLastLineTorn(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read({ buffer: Buffer.alloc(1), position: size - 1 });
  return buffer[0] !== 0x0a;
}

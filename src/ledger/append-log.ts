import { constants } from 'node:fs';
import { lstat, open, rename, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { escapeJson } from '../log/unsafe-characters.ts';
import { errnoOf } from '../errno.ts';
import { syncPath } from '../disk/file-system.ts';
import { LedgerError, refusal } from './ledger-error.ts';
import { sizeOfUsableFile } from './state-directory.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { stateOf } from '../pipeline/file/facts.ts';
import type { Failure } from '../pipeline/file/failure.ts';

/**
 * An append-only file of JSON lines. It is safe to show on a terminal: control characters in file names and answers are
 * escaped. Closing waits for every line appended before.
 */
interface AppendLog extends AsyncDisposable {
  /**
   * Writes lines in call order. Lines appended during a write go out together in the next one.
   * @returns resolves when the line is on disk; rejects with the file system's error. A failure does not stop later
   *   lines
   */
  append(line: Line): Promise<void>;
}

type Line = Readonly<Record<string, unknown>>;

/**
 * Opens a log.
 *
 * @param path created with mode 0600 if missing; if a crash cut the last line short, that line is ended first
 * @throws {LedgerError} if the file cannot be opened
 */
export async function openAppendLog(path: string): Promise<AppendLog> {
  const file = await openUsable(path);
  // This process is the only writer, so after a complete write the next one need not check for a torn line.
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

/** Suffix of the one older file that is kept. Not `.1`, which logrotate uses. */
export const ROTATED = '.old';

/** Size limit in bytes: twice the size at which logrotate rotates the file, so that the two never compete. */
const mostBytes = 20 * 1024 * 1024;

/**
 * Opens a rarely written log that logrotate may move. Each write opens the file, so the daemon needs no signal after a
 * rotation, and no line ends up in the rotated file. Without logrotate, a large file is moved to `.old` and replaces
 * the previous one, so there are at most two files.
 *
 * A symbolic link at the path is not followed: lines are refused with `LinkedLogError` until the link is gone.
 *
 * @throws {LinkedLogError} only from `append`
 * @throws {LedgerError} if the file cannot be opened for another reason
 */
export async function openRotatedLog(path: string, limitBytes = mostBytes): Promise<AppendLog> {
  if ((await linkInstead(path)) === null) await (await openUsable(path, noLink)).close();
  const batches = createBatches(async (lines) => {
    const isFull = await appendTo(path, lines, limitBytes);
    if (isFull) await rotate(path);
  });
  return { append: batches.add, [Symbol.asyncDispose]: batches.idle };
}

const noLink = constants.O_NOFOLLOW;

/** Checks for a symbolic link at a log's path. @returns the error that lines are refused with; null: no link */
export async function linkInstead(path: string): Promise<LinkedLogError | null> {
  const found = await lstat(path).catch(() => null);
  return found?.isSymbolicLink() === true ? new LinkedLogError(path) : null;
}

/** Thrown when a symbolic link is in a log's place. */
class LinkedLogError extends LedgerError {
  override readonly name = 'LinkedLogError';
  readonly code = 'ELOOP';

  constructor(path: string, cause?: unknown) {
    super(
      `${path} is a symbolic link, which is not followed: remove it. To have the file on another disk, mount or link its directory`,
      { cause },
    );
  }
}

/** Appends lines. @returns whether the file is full */
async function appendTo(path: string, lines: readonly Line[], limitBytes: number): Promise<boolean> {
  await using file = await openFile(path, noLink);
  await writeLines(file, lines, true);
  const { size, ino } = await file.stat();
  // logrotate may have moved the file during the write; the new file is not full.
  return size >= limitBytes && (await stat(path).catch(() => null))?.ino === ino;
}

async function rotate(path: string): Promise<void> {
  // A file that cannot be moved keeps growing, so no line is lost.
  await rename(path, `${path}${ROTATED}`).catch(() => undefined);
}

async function openUsable(path: string, flags = 0): Promise<FileHandle> {
  try {
    await sizeOfUsableFile(path);
    const file = await openFile(path, flags);
    await syncPath(dirname(path));
    return file;
  } catch (error) {
    throw await refusal(path, error);
  }
}

async function openFile(path: string, flags = 0): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | flags, 0o600);
  } catch (error) {
    if (flags === noLink && errnoOf(error) === 'ELOOP') throw new LinkedLogError(path, error);
    throw error;
  }
}

async function writeLines(file: FileHandle, lines: readonly Line[], mayBeTorn: boolean): Promise<void> {
  const text = lines.map((line) => `${escapeJson(JSON.stringify(line))}\n`).join('');
  // A crash or a full disk may leave half a line, which must not swallow the next one.
  await file.appendFile(`${mayBeTorn && (await isLastLineTorn(file)) ? '\n' : ''}${text}`);
  await file.datasync();
}

/** Collects lines that arrive during a write into the next one. A failure does not stop the next write. */
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

/** `failures.jsonl`: one line per failure (design section 8). Closing waits for pending lines. */
interface FailureLog extends AsyncDisposable {
  /**
   * Appends a line in call order. Never throws and does not wait, so a listener may call it. The row is written before
   * the line (docs/decisions/0016): a crash in between loses the line but not the failure, which is in the row and its
   * history. In the opposite order, a slow or full disk would stop every step, and a line could report something that
   * no row contains.
   * @param next what happens to the file now, in words
   */
  append(facts: Facts, failure: Failure, next: string): void;
}

/**
 * Opens the log of failures.
 *
 * @param path of a file that may be rotated at any time
 * @param report called with the file system's error when lines cannot be written, once per cause until writing works
 *   again. A symbolic link at the path is reported immediately and does not stop work
 * @throws {LedgerError} if the file cannot be opened for another reason
 */
export async function openFailureLog(path: string, report: (error: unknown) => void): Promise<FailureLog> {
  const log = await openRotatedLog(path);
  let reported: string | null = null;
  const written = (): void => {
    reported = null;
  };
  const refused = (error: unknown): void => {
    const cause = errnoOf(error);
    if (cause !== reported) report(error);
    reported = cause;
  };
  const link = await linkInstead(path);
  if (link !== null) refused(link);
  return {
    append: (facts, failure, next) => {
      log
        .append({
          v: 1,
          at: new Date().toISOString(),
          id: facts.id,
          file: `${facts.folder}/${facts.path}`,
          state: stateOf(facts),
          video_id: facts.videoId,
          class: failure.kind,
          status: failure.status ?? null,
          code: failure.code,
          message: failure.message,
          attempt: facts.attempts,
          next,
        })
        .then(written, refused);
    },
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

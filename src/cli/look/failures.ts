import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { serviceOf } from '../../config/installed-service.ts';
import { ROTATED } from '../../ledger/append-log.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { clockTime, dayAndTime } from '../../view/words/text.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { printDocument } from '../output/json.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes, whileRead } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface FailuresOptions extends Shared {
  readonly follow?: boolean;
  /** How far to look back, in milliseconds. */
  readonly since: number;
}

/**
 * `dropcast failures`: prints what failed, why, and what happens next, one failure per line from failures.jsonl. Works
 * without a daemon.
 */
export async function failures(shell: Shell, options: FailuresOptions): Promise<void> {
  const isFollowing = options.follow === true;
  if (isFollowing) shell.takeOverSignals();
  using reading = whileRead(shell);
  const { file, failureLog } = await requireDaemonPlace(shell, options.config);
  const path = serviceOf(file)?.failureLog ?? failureLog;
  const sinceMs = Date.now() - options.since;
  const printer = createFailurePrinter((line) => shell.stdout.write(`${line}\n`), Date.now);
  let shown = 0;
  const show = (line: string): void => {
    const record = parseFailure(line);
    if (record === null || Date.parse(record.at) < sinceMs) return;
    shown += 1;
    if (options.json === true) printDocument(`${line}\n`, shell.stdout);
    else printer.add(record);
  };
  try {
    const rotated = await openLog(`${path}${ROTATED}`);
    if (rotated !== null) {
      for await (const line of newLines(rotated)) show(line);
      await rotated.file.close();
    }
    for await (const line of tail(path, reading.signal)) {
      if (line !== null) show(line);
      else if (isFollowing) printer.flush();
      else break;
    }
    printer.flush();
    if (!isFollowing && options.json !== true && shown === 0)
      shell.stderr.write('No failures in this time; --since looks further back.\n');
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const isRefused = 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
    const sudo = isRefused ? '; run the command with sudo, or see the latest with `dropcast events --level warn`' : '';
    const message = `cannot read the failure log ${path}: ${error.message}${sudo}`;
    throw new CommandError(message, exitCodes.failed, { cause: error });
  }
}

/** The fields of a failures.jsonl line that are displayed. */
interface FailureRecord {
  readonly at: string;
  readonly id: string;
  readonly file: string;
  readonly state: string;
  readonly message: string;
  readonly next: string;
}

/** Parses a line; null for a torn or unknown line, which is not displayed. Pure. */
export function parseFailure(line: string): FailureRecord | null {
  try {
    const record = JSON.parse(line) as Partial<Record<keyof FailureRecord, unknown>> | null;
    const texts = [record?.at, record?.id, record?.file, record?.state, record?.message, record?.next];
    return texts.every((text) => typeof text === 'string') ? (record as FailureRecord) : null;
  } catch {
    return null;
  }
}

/** Prints failures, one per line. Consecutive failures of the same kind share one summary line. */
interface FailurePrinter {
  add(record: FailureRecord): void;
  /** Prints pending lines. Called when no more input is available for now. */
  flush(): void;
}

/** @param print writes one line */
export function createFailurePrinter(print: (line: string) => void, now: () => number): FailurePrinter {
  let last: FailureRecord | null = null;
  const repeated = new Set<string>();
  let attempts = 0;
  const flush = (): void => {
    if (attempts > 0) print(`${' '.repeat(18)}same as above: ${repeatWords(repeated.size, attempts)}`);
    repeated.clear();
    attempts = 0;
  };
  return {
    add: (record) => {
      if (last !== null && isSame(last, record)) {
        repeated.add(record.file);
        attempts += 1;
        // The next step shown is that of the latest repetition.
        last = record;
        return;
      }
      flush();
      last = record;
      print(lineOf(record, now()));
    },
    flush,
  };
}

function repeatWords(files: number, attempts: number): string {
  if (files === attempts) return files === 1 ? '1 file' : `${files} files`;
  return `${attempts} times, ${files === 1 ? '1 file' : `${files} files`}`;
}

/** Whether two failures have the same cause and the same kind of next step. */
function isSame(one: FailureRecord, other: FailureRecord): boolean {
  return one.message === other.message && one.state === other.state;
}

/** Formats a failure: when, which file, why, and what happens next. Pure. */
function lineOf({ at, file, message, next, state, id }: FailureRecord, now: number): string {
  const time = dayAndTime(Date.parse(at));
  return escapeControls(`${time}  ${file}: ${withoutEnd(message)}; ${nextWords({ next, state, id }, now)}`);
}

function nextWords({ next, state, id }: Pick<FailureRecord, 'next' | 'state' | 'id'>, now: number): string {
  const [, time] = /^next try not before (\S+)$/.exec(next) ?? [];
  if (time !== undefined && !Number.isNaN(Date.parse(time))) return `next try at ${clockTime(Date.parse(time), now)}`;
  if (state === 'failed' || state === 'held') return `needs you: dropcast show ${id}`;
  return next === 'tried again' ? 'tried again soon' : next;
}

function withoutEnd(message: string): string {
  return message.replace(/[.;\s]+$/, '');
}

const lookAgainMs = 500;

const chunkBytes = 64 * 1024;

/** Maximum line length to keep. dropcast writes no longer ones. */
const mostLineCharacters = 1024 * 1024;

/** An open log, and how far it was read. */
interface Log {
  readonly file: FileHandle;
  position: number;
  /** The beginning of a line that is not complete. */
  rest: string;
}

/**
 * Reads an append-only log that may be rotated at any time. Yields the existing lines, then null, then new lines until
 * the signal fires. After a rotation, finishes the old file before starting on the new one.
 *
 * Refuses links and FIFOs, so that a reader running as root cannot be led to another file.
 */
async function* tail(path: string, signal: AbortSignal): AsyncGenerator<string | null> {
  let log = await openLog(path);
  try {
    for (let isBehind = true; !signal.aborted; isBehind = false) {
      if (log !== null) yield* newLines(log);
      if (isBehind) yield null;
      await delay(lookAgainMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || (log !== null && !(await isReplaced(log, path)))) continue;
      const next = await openLog(path);
      if (next === null) continue;
      // Lines were written between the last read and the rotation.
      const last = log === null ? [] : await Array.fromAsync(newLines(log));
      await log?.file.close();
      log = next;
      yield* last;
    }
  } finally {
    await log?.file.close();
  }
}

async function* newLines(log: Log): AsyncGenerator<string> {
  for (;;) {
    const { bytesRead, buffer } = await log.file.read(Buffer.alloc(chunkBytes), 0, chunkBytes, log.position);
    if (bytesRead === 0) return;
    log.position += bytesRead;
    // latin1 preserves a multi-byte character split between chunks until its line is complete.
    const lines = (log.rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
    log.rest = (lines.pop() ?? '').slice(0, mostLineCharacters);
    for (const line of lines) yield Buffer.from(line, 'latin1').toString('utf8');
  }
}

/** @returns null if the file does not exist (yet) */
async function openLog(path: string): Promise<Log | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await file.stat()).isFile()) return { file, position: 0, rest: '' };
    await file.close();
    throw new Error(`${path} is not a regular file`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Whether the path now names another file, or one that was truncated, as by logrotate's `copytruncate`. */
async function isReplaced({ file, position }: Log, path: string): Promise<boolean> {
  const there = await stat(path, { bigint: true }).catch(() => null);
  if (there === null) return false;
  const { ino, dev } = await file.stat({ bigint: true });
  return there.ino !== ino || there.dev !== dev || there.size < position;
}

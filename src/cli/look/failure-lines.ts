import { clockTime, dayAndTime } from '../../view/words/text.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';

/** The fields of a failures.jsonl line that are displayed. */
export interface FailureRecord {
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
export interface FailurePrinter {
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
export function lineOf({ at, file, message, next, state, id }: FailureRecord, now: number): string {
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

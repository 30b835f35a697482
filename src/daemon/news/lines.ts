import type { DropcastEvent, EventRow } from '../../pipeline/events.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import { newsOf } from './news.ts';
import type { News } from './news.ts';

/** One line of news. */
export interface NewsLine extends News {
  readonly v: 1;
  /** Rises by one from line to line; begins at 1 with each start of the daemon; those of earlier runs end with 0. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A line as the ledger keeps it. Numbers count from 1 in each run, so it has none. */
export type KeptLine = Omit<NewsLine, 'seq'>;

/** The last news, in memory. */
export interface NewsLines {
  /** Remembers the line of an event, and passes it to the listeners. */
  tell(event: DropcastEvent): void;
  /** The same for what is no event of the pipeline. */
  add(news: News): void;
  /** Resolves when the ledger has kept all lines so far, or has refused them. */
  kept(): Promise<void>;
  /** See `KeptEvents`. `tell` shows the same line, and leaves the writing to the caller of this. */
  rowOf(event: DropcastEvent): EventRow | null;
  /** @returns ends the listening */
  listen(listener: (line: NewsLine) => void): () => void;
  /** Remembered lines after this one, oldest first; 0: all of this run; -Infinity: all. */
  since(seq: number): readonly NewsLine[];
  /** Number of the newest line; 0: there is none yet. */
  last(): number;
  /** Puts lines of earlier runs before all others. */
  precede(lines: readonly NewsLine[]): void;
}

/** Some hundred kilobytes. */
export const MOST_LINES = 1_000;

/** Longest text of a line, which may contain an answer of the service. */
const MOST_CHARACTERS = 600;

/**
 * @param broke told of a listener that throws: that is a bug, and no reason to stop the others
 * @param ledger.host the host of the lines
 * @param ledger.keep writes a line that concerns no file and reports no other write; never rejects
 */
export function createNewsLines(
  clock: Pick<Clock, 'now'>,
  broke: (error: unknown) => void,
  ledger: { readonly host: string; keep(row: EventRow): Promise<void> } = { host: '', keep: async () => undefined },
): NewsLines {
  const lines: NewsLine[] = [];
  const written = new WeakMap<DropcastEvent, KeptLine>();
  const listeners = new Set<(line: NewsLine) => void>();
  let last = 0;
  let lastKept = Promise.resolve();

  const show = (kept: KeptLine): void => {
    last += 1;
    const line = { ...kept, seq: last };
    lines.push(line);
    if (lines.length > MOST_LINES) lines.shift();
    for (const listener of listeners) {
      try {
        listener(line);
      } catch (error) {
        broke(error);
      }
    }
  };

  const add = (news: News): void => {
    const line = keptLine(news, clock.now());
    show(line);
    if (line.file === null) lastKept = ledger.keep({ host: ledger.host, at: line.at, line });
  };

  return {
    add,
    kept: () => lastKept,
    rowOf: (event) => {
      const row = eventRow(ledger.host, event, clock.now());
      if (row !== null) written.set(event, row.line);
      return row;
    },
    tell: (event) => {
      const line = written.get(event);
      if (line !== undefined) return show(line);
      const news = newsOf(event, clock.now());
      if (news !== null) add(news);
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    since: (seq) => lines.slice(Math.max(0, lines.length - (last - seq))),
    last: () => last,
    precede: (past) => void lines.unshift(...past.slice(-Math.max(0, MOST_LINES - lines.length))),
  };
}

/**
 * Pure: what the ledger keeps of an event.
 *
 * @param now epoch milliseconds
 * @returns null when the event is no news
 */
export function eventRow(
  host: string,
  event: DropcastEvent,
  now: number,
): (EventRow & { readonly line: KeptLine }) | null {
  const news = newsOf(event, now);
  return news && { host, at: now, line: keptLine(news, now) };
}

function keptLine(news: News, at: number): KeptLine {
  return { v: 1, at, ...news, text: shortened(news.text) };
}

function shortened(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`;
}

/** Rows that wait for a ledger that refuses. */
const mostWaiting = 1_000;

/**
 * Keeps events that report no other write. Rows that the ledger refuses, as on a full disk, wait in memory for the next
 * one.
 *
 * @param write writes all of them, or none
 * @returns resolves when the row is written or waits; never rejects
 */
export function createEventKeeper(
  write: (rows: readonly EventRow[]) => Promise<void>,
  refused: (error: unknown) => void,
): (row: EventRow) => Promise<void> {
  let waiting: readonly EventRow[] = [];
  let last: Promise<void> = Promise.resolve();
  const flush = async (): Promise<void> => {
    const rows = waiting;
    if (rows.length === 0) return;
    try {
      await write(rows);
      waiting = waiting.slice(rows.length);
    } catch (error) {
      refused(error);
    }
  };
  return (row) => {
    if (waiting.length < mostWaiting) waiting = [...waiting, row];
    return (last = last.then(flush));
  };
}

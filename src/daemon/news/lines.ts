import type { DropcastEvent, EventRow } from '../../pipeline/events.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import type { FeedLinks } from '../../host/feed-links.ts';
import { aboutNothing, newsOf } from './news.ts';
import type { News } from './news.ts';

/** One line of news. */
export interface NewsLine extends News {
  readonly v: 1;
  /** Sequence number. Starts at 1 with each daemon start and rises by one per line; lines of earlier runs end at 0. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** A line as the ledger stores it: without a number, because each run counts from 1. */
export type KeptLine = Omit<NewsLine, 'seq'>;

/** Recent news, in memory. */
export type NewsLines = ReturnType<typeof createNewsLines>;

/** Maximum number of lines in memory. They take several hundred kilobytes. */
export const MOST_LINES = 1_000;

/** Maximum length of a line's text, which may contain a response from the service. */
const MOST_CHARACTERS = 600;

/**
 * @param broke called with the error of a listener that throws: a bug, but no reason to stop the others
 * @param ledger.host the host recorded with each line
 * @param ledger.keep stores a line that is about no file and belongs to no other write; never rejects
 */
export function createNewsLines(
  clock: Pick<Clock, 'now'>,
  broke: (error: unknown) => void,
  ledger: {
    readonly host: string;
    readonly feedLinks?: Pick<FeedLinks, 'find'>;
    keep(row: EventRow): Promise<void>;
  } = {
    host: '',
    keep: async () => undefined,
  },
) {
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

  const add = (news: Pick<News, 'level' | 'type' | 'text'> & Partial<News>): void => {
    const line = keptLine({ ...aboutNothing, ...news }, clock.now());
    show(line);
    if (line.file === null) lastKept = ledger.keep({ host: ledger.host, at: line.at, line });
  };

  return {
    /** Adds news that is not a pipeline event. Omitted fields are null. */
    add,
    /** Resolves when the ledger has stored or refused all lines so far. */
    kept: (): Promise<void> => lastKept,
    /** See `KeptEvents`. The caller writes the row; `tell` then shows the same line. */
    rowOf: (event: DropcastEvent): EventRow | null => {
      const row = eventRow(ledger.host, event, clock.now());
      if (row !== null) written.set(event, row.line);
      return row;
    },
    /** Stores an event's line and passes it to the listeners. */
    tell: (event: DropcastEvent): void => {
      const line = written.get(event);
      if (line !== undefined) return show(line);
      const news = newsOf(event, clock.now(), ledger.feedLinks);
      if (news !== null) add(news);
    },
    /** @returns a function that removes the listener */
    listen: (listener: (line: NewsLine) => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Returns the lines in memory after number `seq`, oldest first; 0: all of this run; -Infinity: all. */
    since: (seq: number): readonly NewsLine[] => lines.slice(Math.max(0, lines.length - (last - seq))),
    /** Number of the newest line; 0: none yet. */
    last: (): number => last,
    /** Inserts lines of earlier runs before all others. */
    precede: (past: readonly NewsLine[]): void =>
      void lines.unshift(...past.slice(-Math.max(0, MOST_LINES - lines.length))),
  };
}

/**
 * Returns the row that the ledger stores for an event. Pure.
 *
 * @param now epoch milliseconds
 * @returns null when the event is not news
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

/** Maximum number of rows held in memory while the ledger refuses writes. */
const mostWaiting = 1_000;

/**
 * Stores events that belong to no other write. If the ledger refuses, for example because the disk is full, rows wait
 * in memory for the next attempt.
 *
 * @param write writes all the rows or none
 * @returns resolves when the row is written or waiting; never rejects
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

import type { DropcastEvent } from '../../pipeline/events.ts';
import type { Clock } from '../../pipeline/file/ports.ts';
import type { News } from './words.ts';
import { newsOf } from './words.ts';

/** One line of news. */
export interface NewsLine extends News {
  readonly v: 1;
  /** Rises by one from line to line; begins at 1 with each start of the daemon; those of earlier runs end with 0. */
  readonly seq: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The last news, in memory. */
export interface NewsLines {
  /** Remembers what an event says, and tells it. */
  tell(event: DropcastEvent): void;
  /** The same for what is no event of the pipeline. */
  add(news: News): void;
  /** @returns ends the listening */
  listen(listener: (line: NewsLine) => void): () => void;
  /** Remembered lines after this one, oldest first; 0: all of this run; -Infinity: all. */
  since(seq: number): readonly NewsLine[];
  /** Of the newest line; 0: there is none yet. */
  last(): number;
  /** Puts lines of earlier runs before all others. */
  precede(lines: readonly NewsLine[]): void;
}

/** Some hundred kilobytes. */
export const MOST_LINES = 1_000;

/** Of a text that holds an answer of the service. */
const MOST_CHARACTERS = 600;

/** @param broke told of a listener that throws: that is a bug, and no reason to stop the others */
export function createNewsLines(clock: Pick<Clock, 'now'>, broke: (error: unknown) => void): NewsLines {
  const lines: NewsLine[] = [];
  const listeners = new Set<(line: NewsLine) => void>();
  let last = 0;

  const add = (news: News): void => {
    last += 1;
    const line: NewsLine = { v: 1, seq: last, at: clock.now(), ...news, text: shortened(news.text) };
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

  return {
    add,
    tell: (event) => {
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

function shortened(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`;
}

import { clearInterval, setInterval } from 'node:timers';
import type { NewsLine, NewsLines } from './lines.ts';

export interface FollowOptions {
  /** The lines to begin with, oldest first. */
  readonly first: readonly NewsLine[];
  /** Which of the later ones are wanted. */
  readonly isWanted: (line: NewsLine) => boolean;
  /** What precedes all lines. */
  readonly head: object;
  readonly ended: () => void;
}

/** In the place of lines that were left out. */
interface Missed extends NewsLine {
  readonly missed: number;
}

/** Lines that wait for a reader who is slower than the news. */
const MOST_WAITING = 1_000;

/** An empty line shows that a quiet daemon is not hung. */
const quietMs = 10_000;

/**
 * Streams events, one line of JSON each, for as long as the reader wants. A slow reader misses some, and one line says
 * how many.
 */
export function followNews(news: Pick<NewsLines, 'listen'>, { first, isWanted, head, ended }: FollowOptions): Response {
  const waiting: (NewsLine | null)[] = [...first];
  let missed: Missed | null = null;
  let woken = Promise.withResolvers<void>();
  const push = (line: NewsLine | null): void => {
    waiting.push(line);
    woken.resolve();
  };
  const forget = news.listen((line) => {
    if (!isWanted(line)) return;
    if (waiting.length >= MOST_WAITING) {
      missed = leftOut(missed, line);
      return;
    }
    if (missed !== null) push(missed);
    missed = null;
    push(line);
  });
  const timer = setInterval(() => {
    if (waiting.length === 0) push(null);
  }, quietMs).unref();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(textOf(head))),
    pull: async (controller) => {
      if (waiting.length === 0 && missed === null) {
        woken = Promise.withResolvers<void>();
        await woken.promise;
      }
      const isRead = waiting.length === 0;
      const line = isRead ? missed : (waiting.shift() ?? null);
      if (isRead) missed = null;
      controller.enqueue(encoder.encode(line === null ? '\n' : textOf(line)));
    },
    cancel: () => {
      clearInterval(timer);
      forget();
      ended();
    },
  });
  return new Response(body, { headers: ndjson });
}

/** The same for those that are there. */
export function newsText(head: object, lines: readonly NewsLine[]): Response {
  return new Response([head, ...lines].map(textOf).join(''), { headers: ndjson });
}

/** Counts the lines that a slow reader misses, in place of the last of them. */
function leftOut(before: Missed | null, { seq, at }: NewsLine): Missed {
  const missed = (before?.missed ?? 0) + 1;
  const lines = missed === 1 ? 'A line was' : `${missed} lines were`;
  const text = `${lines} skipped: this reader is too slow for the events`;
  return {
    v: 1,
    seq,
    at,
    level: 'warn',
    type: 'missed',
    file: null,
    folder: null,
    path: null,
    state: null,
    text,
    missed,
  };
}

const ndjson = { 'content-type': 'application/x-ndjson' };

function textOf(line: object): string {
  return `${JSON.stringify(line)}\n`;
}

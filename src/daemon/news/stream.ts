import { clearInterval, setInterval } from 'node:timers';
import type { NewsLine, NewsLines } from './lines.ts';

export interface FollowOptions {
  /** The initial lines, oldest first. */
  readonly first: readonly NewsLine[];
  /** Selects which later lines to send. */
  readonly isWanted: (line: NewsLine) => boolean;
  /** Sent before all lines. */
  readonly head: object;
  readonly ended: () => void;
}

/** Replaces the lines that a slow reader missed. */
interface Missed extends NewsLine {
  readonly missed: number;
}

/** Maximum number of lines buffered for a slow reader. */
const MOST_WAITING = 1_000;

/** Interval of keep-alive lines, in milliseconds. An empty line shows that a quiet daemon is not hung. */
const quietMs = 10_000;

/**
 * Streams events, one line of JSON each, until the reader disconnects. A slow reader misses some, and one line reports
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

/** Returns the given lines as NDJSON, without following. */
export function newsText(head: object, lines: readonly NewsLine[]): Response {
  return new Response([head, ...lines].map(textOf).join(''), { headers: ndjson });
}

/** Returns the line that reports how many lines a slow reader missed. It replaces the last one missed. */
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

import { clearInterval, setInterval } from 'node:timers';
import { Hono } from 'hono';
import type { Daemon } from '../daemon.ts';
import type { NewsLine, NewsLines } from '../news/lines.ts';
import { ndjsonOf, streamNdjson } from './ndjson.ts';
import { aboutNothing, isAtLeast, isIn, isLevel, newsLevels } from '../news/news.ts';
import { pastPage, shownHost, whyNoCursor } from '../news/past-lines.ts';

/** The first line of the response. Identifies the daemon run that the line numbers belong to. */
export interface NewsHead {
  /** Epoch milliseconds. */
  readonly started_at: number;
  /** Number of lines after the requested one that are no longer in memory. */
  readonly forgotten: number;
}

/**
 * Maximum number of simultaneous followers. Each occupies one of the socket's hundred connections for as long as it
 * listens.
 */
const MOST_FOLLOWERS = 30;

/**
 * `GET /events`: recent news as NDJSON.
 *
 * - `limit`: maximum number of past lines to return; `level`: lowest severity; `folder`: a path to limit the lines to
 * - `since`, `of`: all lines after number `since` of the run that started at `of`, instead of `limit`
 * - `follow=1`: continues with new lines as they occur
 *
 * `GET /events/past`: a page of the lines kept since a time; `since` in epoch milliseconds, `after` a cursor.
 */
export function eventRoutes(daemon: Daemon): Hono {
  const { news, startedAt } = daemon;
  let followers = 0;
  const app = new Hono();
  app.get('/events', (context) => {
    const { level = 'info', folder = null, limit = '50', since, of, follow } = context.req.query();
    const refusal = whyNot(
      { level, folder },
      daemon.config().folders.map(({ path }) => path),
    );
    if (refusal !== null) return context.json({ error: { message: refusal } }, 400);
    const isWanted = (line: NewsLine): boolean => isAtLeast(line, level) && (folder === null || isIn(line, folder));
    const isSameRun = since !== undefined && Number(of) === startedAt;
    // A client that followed an earlier run already has that run's lines.
    const from = isSameRun ? Number(since) : since === undefined ? -Infinity : 0;
    const all = news.since(from);
    const wanted = all.filter(isWanted);
    // After a restart, every line is new to the client.
    const first = since === undefined ? wanted.slice(-Math.max(1, Number(limit) || 1)) : wanted;
    const forgotten = isSameRun ? news.last() - from - all.length : 0;
    const head: NewsHead = { started_at: startedAt, forgotten };
    if (follow !== '1') return ndjsonOf([head, ...first]);
    if (followers >= MOST_FOLLOWERS) {
      const message = `${MOST_FOLLOWERS} others already follow the events: stop one of them, or run this without --follow`;
      return context.json({ error: { message } }, 503);
    }
    followers += 1;
    return followNews(news, { first: [head, ...first], isWanted, ended: () => void (followers -= 1) });
  });
  app.get('/events/past', async (context) => {
    const { since, after = '' } = context.req.query();
    const message = whyNoCursor(after);
    if (message !== null) return context.json({ error: { message } }, 400);
    const of = { host: shownHost(daemon.config()), since: Number(since) || 0, after };
    return context.json(await pastPage(daemon.ledger, of));
  });
  return app;
}

function whyNot(
  { level, folder }: { readonly level: string; readonly folder: string | null },
  folders: readonly string[],
): string | null {
  if (!isLevel(level)) return `unknown level "${level}"; the levels are: ${newsLevels.join(', ')}`;
  const isKnown = (path: string): boolean =>
    path === folder || path.startsWith(`${folder}/`) || folder?.startsWith(`${path}/`) === true;
  if (folder === null || folders.some(isKnown)) return null;
  return `${folder} is not in a watched folder; the watched folders are: ${folders.join(', ')}`;
}

interface FollowOptions {
  /** The initial lines. */
  readonly first: readonly object[];
  /** Selects which later lines to send. */
  readonly isWanted: (line: NewsLine) => boolean;
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
function followNews(news: Pick<NewsLines, 'listen'>, { first, isWanted, ended }: FollowOptions): Response {
  const waiting: (object | null)[] = [...first];
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
  const next = async (): Promise<object | null> => {
    if (waiting.length === 0 && missed === null) {
      woken = Promise.withResolvers();
      await woken.promise;
    }
    const isRead = waiting.length === 0;
    const line = isRead ? missed : (waiting.shift() ?? null);
    if (isRead) missed = null;
    return line;
  };
  return streamNdjson(next, () => {
    clearInterval(timer);
    forget();
    ended();
  });
}

/** Returns the line that reports how many lines a slow reader missed. It replaces the last one missed. */
function leftOut(before: Missed | null, { seq, at }: NewsLine): Missed {
  const missed = (before?.missed ?? 0) + 1;
  const lines = missed === 1 ? 'A line was' : `${missed} lines were`;
  const text = `${lines} skipped: this reader is too slow for the events`;
  return { v: 1, seq, at, ...aboutNothing, level: 'warn', type: 'missed', text, missed };
}

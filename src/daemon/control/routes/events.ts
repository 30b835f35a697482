import { Hono } from 'hono';
import type { Daemon } from '../../daemon.ts';
import type { NewsLine } from '../../news/lines.ts';
import { isAtLeast, isIn, isLevel, newsLevels } from '../../news/selection.ts';
import { pastPage, shownHost, whyNoCursor } from '../../news/past-lines.ts';
import { followNews, newsText } from '../../news/stream.ts';

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
    if (follow !== '1') return newsText(head, first);
    if (followers >= MOST_FOLLOWERS) {
      const message = `${MOST_FOLLOWERS} others already follow the events: stop one of them, or run this without --follow`;
      return context.json({ error: { message } }, 503);
    }
    followers += 1;
    return followNews(news, { first, isWanted, head, ended: () => (followers -= 1) });
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

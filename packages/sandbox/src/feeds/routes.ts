import { Hono, type Context } from 'hono';
import { cors } from 'hono/cors';
import { etag, RETAINED_304_HEADERS } from 'hono/etag';
import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { query } from '../http/input.ts';
import type { Feed } from '../store/feeds.ts';
import type { Services } from '../services.ts';
import { feedDocument, type Asked } from './document.ts';

/**
 * Serves the published feeds: public, without a key, and readable by scripts on other sites. A reader that sends the
 * ETag or date of its copy gets 304. `Range` is answered with the whole document, as RFC 9110 section 14.2 permits.
 */
export function createFeedRoutes({ records, links, clock }: Pick<Services, 'records' | 'links' | 'clock'>): Hono {
  const routes = new Hono();
  routes.use('/feeds/:file', cors({ allowMethods: ['GET', 'HEAD'], exposeHeaders: ['ETag', 'Last-Modified'] }));
  routes.use('/feeds/:file', etag({ retainedHeaders: [...RETAINED_304_HEADERS, ...ALSO_RETAINED] }));
  routes.get('/feeds/:file', (context) => {
    const feed = feedAt(context, { records, links });
    const asked = askedOf(context.req.raw, feed);
    const modifiedAt = modifiedAtMs(feed, clock.nowMs());
    const headers = {
      'Cache-Control': 'no-cache',
      ...(modifiedAt !== undefined && { 'Last-Modified': new Date(modifiedAt).toUTCString() }),
    };
    if (isUnchanged(context, modifiedAt)) return context.body(null, 304, headers);
    const { contentType, body } = feedDocument({ records, links }, feed, asked);
    return context.body(body, 200, {
      ...headers,
      'Content-Type': contentType,
      'Content-Length': String(Buffer.byteLength(body)),
    });
  });
  routes.all('/feeds/:file', (context) => {
    feedAt(context, { records, links });
    throw new ApiError('method_not_allowed', 'A feed is read-only.', { Allow: 'GET, HEAD, OPTIONS' });
  });
  return routes;
}

const ALSO_RETAINED = ['last-modified', 'access-control-allow-origin', 'access-control-expose-headers'];

/** Finds the requested feed. @throws ApiError 404, also if the extension does not match the feed */
function feedAt(context: Context, { records, links }: Pick<Services, 'records' | 'links'>): Feed {
  const file = context.req.param('file') ?? '';
  const feed = records.feeds.find(file.replace(/\.[^.]*$/, ''));
  if (!feed || !links.feed(feed.id, feed.type).endsWith(`/${file}`))
    throw new ApiError('not_found', 'There is no such feed.');
  return feed;
}

/**
 * Reads the page and profile from the query. Ignores other parameters, because sites that link to a feed add their own.
 * @throws ApiError 422
 */
function askedOf(request: Request, feed: Feed): Asked {
  return query(request, ASKED[feed.type]);
}

const page = z
  .string()
  .regex(/^[1-9]\d{0,5}$/, 'must be an integer from 1 to 999999')
  .transform(Number)
  .default(1);
const ASKED: Readonly<Record<Feed['type'], z.ZodType<Asked>>> = {
  mrss: z.object({ page }),
  podcast: z.object({ page }),
  ctv: z.object({ page, profile: z.literal('roku-search', 'must be roku-search').optional() }),
};

/**
 * Returns the time of the last change in whole seconds, or undefined until that second is over: a second change would
 * get the same date (RFC 9110 section 8.8.2.2), and readers that compare dates would miss it.
 */
function modifiedAtMs({ publication }: Feed, nowMs: number): number | undefined {
  const secondOf = (atMs: number) => Math.floor(atMs / 1000) * 1000;
  if (!publication || secondOf(publication.changedAtMs) >= secondOf(nowMs)) return undefined;
  return secondOf(publication.changedAtMs);
}

/** Compares `If-Modified-Since` only, which applies to readers that send no ETag (RFC 9110 section 13.1.3). */
function isUnchanged(context: Context, modifiedAt: number | undefined): boolean {
  const since = Date.parse(context.req.header('if-modified-since') ?? '');
  if (modifiedAt === undefined || context.req.header('if-none-match') !== undefined) return false;
  return modifiedAt <= since;
}

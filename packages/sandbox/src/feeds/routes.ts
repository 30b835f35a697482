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
 * The published feeds: public, without a key, and readable by scripts of other sites. A reader that sends the ETag or
 * date of its copy gets 304. `Range` is answered with the whole document, as RFC 9110 section 14.2 permits.
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

/** @throws ApiError 404, also for the right feed with the wrong extension */
function feedAt(context: Context, { records, links }: Pick<Services, 'records' | 'links'>): Feed {
  const file = context.req.param('file') ?? '';
  const feed = records.feeds.find(file.replace(/\.[^.]*$/, ''));
  if (!feed || !links.feed(feed.id, feed.type).endsWith(`/${file}`))
    throw new ApiError('not_found', 'There is no such feed.');
  return feed;
}

/** Ignores other parameters, because sites that link to a feed add their own. @throws ApiError 422 */
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
 * The second of the last change. During that second the feed has no date, because a second change would have the same
 * one (RFC 9110 section 8.8.2.2), and a reader that compares dates would never see it.
 */
function modifiedAtMs({ publication }: Feed, nowMs: number): number | undefined {
  const secondOf = (atMs: number) => Math.floor(atMs / 1000) * 1000;
  if (!publication || secondOf(publication.changedAtMs) >= secondOf(nowMs)) return undefined;
  return secondOf(publication.changedAtMs);
}

/** By the date alone, which counts only for a reader that sends no ETag (RFC 9110 section 13.1.3). */
function isUnchanged(context: Context, modifiedAt: number | undefined): boolean {
  const since = Date.parse(context.req.header('if-modified-since') ?? '');
  if (modifiedAt === undefined || context.req.header('if-none-match') !== undefined) return false;
  return modifiedAt <= since;
}

import { Hono, type Context } from 'hono';
import { z } from 'zod';
import { EmbedPlays } from '../analytics/embed-plays.ts';
import { ApiError } from '../http/api-error.ts';
import { jsonBody, type Handler } from '../http/input.ts';
import { randomBytes } from 'node:crypto';
import type { Video, VideoMedia } from '../store/videos.ts';
import type { Services } from '../services.ts';
import { embedMediaUrl } from '../http/links.ts';
import { noticePage, playerPage, type Html, playerSettings } from './pages.ts';
import { getConnInfo } from '@hono/node-server/conninfo';
import { getCookie, setCookie } from 'hono/cookie';
import { viewerFrom } from '../analytics/read-plays.ts';

/** Routes for each video's embed page (api-spec section 2.1) and its player's reports. */
export function createEmbedRoutes(parts: EmbedParts): Hono {
  const plays = new EmbedPlays(parts);
  return new Hono()
    .get('/embed/:id', showPage(parts))
    .post('/embed/:id/plays', openPlay(plays, parts.settings.seed))
    .post('/embed/:id/plays/:play', reportPlay(plays))
    .all('/embed/:id', otherMethod('GET, HEAD, OPTIONS'))
    .all('/embed/:id/plays', otherMethod('POST, OPTIONS'))
    .all('/embed/:id/plays/:play', otherMethod('POST, OPTIONS'));
}

function otherMethod(allow: string): Handler {
  return (context) => {
    if (context.req.method === 'OPTIONS') return context.body(null, 204, { Allow: allow });
    throw new ApiError('method_not_allowed', `This path allows ${allow}.`, { Allow: allow });
  };
}

/**
 * POST /embed/:id/plays: the player has started. assumed: every page that plays is one view, and a reload is another;
 * playing again in the same page is not. Only JSON is accepted, so that other sites' pages cannot create plays without
 * a CORS preflight.
 */
function openPlay(plays: EmbedPlays, seed: number): Handler {
  return async (context) => {
    await jsonBody(context.req.raw, openBody, { maxBytes: MAX_BODY_BYTES });
    const opened = plays.open(context.req.param('id') ?? '', viewerOf(context, seed));
    if ('playId' in opened) return context.json({ play_id: opened.playId }, 201);
    if (opened.refusal === 'not ready') throw new ApiError('conflict', 'This video is not ready to play.');
    throw new ApiError('not_found', 'There is no such video.');
  };
}

/** POST /embed/:id/plays/:play: progress of a play. A deleted video has no plays, so its player gets 404. */
function reportPlay(plays: EmbedPlays): Handler {
  return async (context) => {
    const { id = '', play = '' } = context.req.param();
    const body = await jsonBody(context.req.raw, reportBody, { maxBytes: MAX_BODY_BYTES });
    const isKnown = plays.report(id, play, { watchedS: body.watched_seconds, isEnded: body.ended });
    if (!isKnown) throw new ApiError('not_found', 'There is no such play of this video.');
    return context.body(null, 204);
  };
}

const MAX_BODY_BYTES = 4096;

const openBody = z.strictObject({});

const reportBody = z.strictObject({
  watched_seconds: z.number('must be a number').min(0, 'must not be below 0'),
  ended: z.boolean('must be true or false'),
});

export type EmbedParts = Pick<Services, 'settings' | 'records' | 'lifecycle' | 'clock' | 'events' | 'links'>;

/**
 * GET /embed/:id: the player, which any site may frame. A deleted video is unavailable immediately (api-spec section
 * 3). assumed: its page is a 404, and a video that is not ready or has failed gets 200 with a notice.
 */
export function showPage(parts: EmbedParts): Handler {
  return (context) => {
    parts.lifecycle.advance();
    const video = parts.records.videos.find(context.req.param('id') ?? '');
    const nonce = randomBytes(16).toString('base64');
    if (!video) return answer(context, 404, { nonce, page: noticePage({ ...NOT_FOUND, nonce }) });
    if (!video.media) return answer(context, 200, { nonce, page: noticePage({ ...noticeOf(video), nonce }) });
    giveCookie(context);
    const mediaOrigin = new URL(parts.links.thumbnail(video.id)).origin;
    return answer(context, 200, { nonce, mediaOrigin, page: pageOf(video, video.media, { ...parts, nonce }) });
  };
}

const NOT_FOUND = { heading: 'Video not found', text: 'This video does not exist, or it was deleted.' };

function noticeOf({ status }: Video) {
  if (status === 'failed') return { heading: 'Video not available', text: 'This video could not be processed.' };
  return { heading: 'Not ready yet', text: 'This video is still being processed.', isWaiting: true };
}

function pageOf(
  video: Video,
  media: VideoMedia,
  { records, links, nonce }: Pick<EmbedParts, 'records' | 'links'> & { nonce: string },
): Html {
  return playerPage({
    title: video.title,
    isAudio: media.mediaType.startsWith('audio/'),
    mediaUrl: embedMediaUrl(links.media(video.id, media.fileExtension)),
    posterUrl: links.thumbnail(video.id),
    playsPath: `/embed/${video.id}/plays`,
    settings: playerSettings(records.channels.find(video.channelId)?.defaultPlayerSettings ?? {}),
    nonce,
  });
}

interface PageAnswer {
  readonly nonce: string;
  readonly page: Html;
  readonly mediaOrigin?: string;
}

/** Sends the page without X-Frame-Options or frame-ancestors, because it is made for frames. */
function answer(context: Context, status: 200 | 404, { nonce, page, mediaOrigin = '' }: PageAnswer) {
  return context.html(page, status, {
    'Content-Security-Policy': contentSecurityPolicy(nonce, mediaOrigin),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  });
}

function contentSecurityPolicy(nonce: string, mediaOrigin: string): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    `img-src 'self' data: ${mediaOrigin}`.trim(),
    `media-src 'self' ${mediaOrigin}`.trim(),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

/**
 * Sets the viewer cookie. assumed: a viewer is a browser. The embed page stores a random name in a 90-day cookie that
 * is sent only to embed pages and hidden from scripts. If cookies are blocked, as in frames on other sites over http,
 * address and user agent identify the viewer.
 */
export function giveCookie(context: Context): void {
  if (cookieOf(context) !== undefined) return;
  const isHttps = new URL(context.req.url).protocol === 'https:';
  setCookie(context, COOKIE, randomBytes(15).toString('base64url'), {
    path: '/embed',
    httpOnly: true,
    maxAge: 90 * DAY_S,
    // In a frame on another site, browsers return only cookies with these attributes, separately for each site.
    ...(isHttps ? { secure: true, sameSite: 'None', partitioned: true } : { sameSite: 'Lax' }),
  });
}

/** Identifies the viewer who made a request from the embed page. */
export function viewerOf(context: Context, seed: number): string {
  const cookie = cookieOf(context);
  if (cookie !== undefined) return `browser_${cookie}`;
  const remoteAddress = getConnInfo(context).remote.address ?? '';
  return viewerFrom({ remoteAddress, userAgent: context.req.header('user-agent') ?? '' }, seed);
}

const COOKIE = 'dropcast_viewer';
const DAY_S = 86_400;

/** Returns the cookie only if it has our own format, because it is stored. */
function cookieOf(context: Context): string | undefined {
  const value = getCookie(context, COOKIE);
  return value !== undefined && /^[\w-]{20}$/.test(value) ? value : undefined;
}

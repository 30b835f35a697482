import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { randomBytes } from 'node:crypto';
import { viewerFrom } from '../analytics/read-plays.ts';

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

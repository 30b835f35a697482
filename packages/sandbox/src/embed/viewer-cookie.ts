import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { randomBytes } from 'node:crypto';
import { viewerFrom } from '../analytics/read-plays.ts';

/**
 * assumed: a viewer is a browser. The embed page gives it a random name in a cookie that only the embed pages see and
 * no script can read, for 90 days. If cookies do not come back, as in frames on other sites over http, address and user
 * agent identify the viewer.
 */
export function giveCookie(context: Context): void {
  if (cookieOf(context) !== undefined) return;
  const isHttps = new URL(context.req.url).protocol === 'https:';
  setCookie(context, COOKIE, randomBytes(15).toString('base64url'), {
    path: '/embed',
    httpOnly: true,
    maxAge: 90 * DAY_S,
    // In a frame on another site, browsers send back only such a cookie, a different one per site.
    ...(isHttps ? { secure: true, sameSite: 'None', partitioned: true } : { sameSite: 'Lax' }),
  });
}

/** The viewer behind a request of the embed page. */
export function viewerOf(context: Context, seed: number): string {
  const cookie = cookieOf(context);
  if (cookie !== undefined) return `browser_${cookie}`;
  const remoteAddress = getConnInfo(context).remote.address ?? '';
  return viewerFrom({ remoteAddress, userAgent: context.req.header('user-agent') ?? '' }, seed);
}

const COOKIE = 'dropcast_viewer';
const DAY_S = 86_400;

/** Only a value in our own form, because it is stored. */
function cookieOf(context: Context): string | undefined {
  const value = getCookie(context, COOKIE);
  return value !== undefined && /^[\w-]{20}$/.test(value) ? value : undefined;
}

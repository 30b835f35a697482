import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { bearerToken } from '../http/access.ts';
import { ApiError } from '../http/api-error.ts';
import type { Links } from '../http/links.ts';

interface Guarded {
  readonly adminToken: string;
  readonly links: Pick<Links, 'origin'>;
}

/**
 * Admits requests with the admin token as a Bearer token, and browsers that `enterByLink` signed in.
 * @throws ApiError 401 for all others, 403 for a write that another page made the browser send
 */
export function requireAdmin(services: Guarded): MiddlewareHandler {
  return async (context, next) => {
    if (!isAdmin(context, services)) throw unauthorized();
    await next();
  };
}

/** Like `requireAdmin`, for routes that also serve visitors who are not signed in. @throws ApiError 403 as it does */
export function isAdmin(context: Context, { adminToken, links }: Guarded): boolean {
  if (isEqual(bearerToken(context.req.header('authorization')), adminToken)) return true;
  if (!isEqual(getCookie(context, cookieName(links.origin)), sessionOf(adminToken))) return false;
  if (!READING.has(context.req.method) && !isFromOwnPage(context))
    throw new ApiError('forbidden', "With the cookie alone, only the sandbox's own page may change anything.");
  return true;
}

/**
 * Turns `GET …?token=TOKEN` into a cookie and a redirect to the same address without the token, which must not remain
 * in the history or a screenshot. The cookie is deleted when the browser closes. It is `Lax`: with `Strict` a browser
 * would omit it after a click on another site's page, such as a test report or a web terminal, and even after this
 * redirect.
 * @throws ApiError 401 for a wrong token
 */
export function enterByLink({ adminToken, links }: Guarded): MiddlewareHandler {
  return async (context, next) => {
    const url = new URL(context.req.url);
    const token = url.searchParams.get('token');
    if (context.req.method !== 'GET' || token === null) return next();
    if (!isEqual(token, adminToken)) throw unauthorized();
    const secure = links.origin.startsWith('https:'); // as the browser sees it, perhaps through a proxy
    setCookie(context, cookieName(links.origin), sessionOf(adminToken), {
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      secure,
    });
    url.searchParams.delete('token');
    context.header('Cache-Control', 'no-store');
    context.header('Referrer-Policy', 'no-referrer');
    // A path without an origin, since a browser behind a proxy knows a different one. A leading `//` would name a host.
    return context.redirect(url.pathname.replace(/^\/+/, '/') + url.search, 303);
  };
}

/** HTTP methods that change nothing. */
export const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Cookie name, including the port. Browsers send the cookies of 127.0.0.1 to all its ports, so two sandboxes would
 * overwrite each other's.
 */
function cookieName(origin: string): string {
  return `dropcast_sandbox_${new URL(origin).port}`;
}

/** Cookie value, derived from the token: browsers send the cookie to every other server on this machine too. */
function sessionOf(adminToken: string): string {
  return createHmac('sha256', adminToken).update('page of the sandbox').digest('base64url');
}

/** Compares in constant time. Hashing first gives both sides the same length. */
function isEqual(given: string | undefined, wanted: string): boolean {
  return given !== undefined && timingSafeEqual(hashOf(given), hashOf(wanted));
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Whether the request came from the sandbox's own origin. SameSite alone would admit other ports of this machine. */
function isFromOwnPage({ req }: Context): boolean {
  const site = req.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  return req.header('origin') === new URL(req.url).origin;
}

function unauthorized(): ApiError {
  return new ApiError('unauthorized', 'The admin side needs its own token: Authorization: Bearer ADMIN_TOKEN.', {
    'WWW-Authenticate': 'Bearer',
  });
}

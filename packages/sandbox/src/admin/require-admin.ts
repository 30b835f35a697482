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
 * Admits requests with the admin token as Bearer token, and browsers that `enterByLink` signed in.
 * @throws ApiError 401 for all others, 403 for a changing request that another page made the browser send
 */
export function requireAdmin(services: Guarded): MiddlewareHandler {
  return async (context, next) => {
    if (!isAdmin(context, services)) throw unauthorized();
    await next();
  };
}

/** As `requireAdmin`, for routes that also answer visitors who are not signed in. @throws ApiError 403 as it does */
export function isAdmin(context: Context, { adminToken, links }: Guarded): boolean {
  if (isEqual(bearerToken(context.req.header('authorization')), adminToken)) return true;
  if (!isEqual(getCookie(context, cookieName(links.origin)), sessionOf(adminToken))) return false;
  if (!READING.has(context.req.method) && !isFromOwnPage(context))
    throw new ApiError('forbidden', "With the cookie alone, only the sandbox's own page may change anything.");
  return true;
}

/**
 * `GET …?token=TOKEN` → a cookie, and a redirect to the same address without the token, which must not stay in a
 * history or a screenshot. The cookie ends with the browser. It is `Lax`: with `Strict` a browser would leave it out
 * after a click on a page of another site, such as a test report or a terminal in the browser, and even after this
 * redirect. @throws ApiError 401 for a wrong token
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
    // Without an origin: behind a proxy this service knows another one than the browser. Two slashes would begin one.
    return context.redirect(url.pathname.replace(/^\/+/, '/') + url.search, 303);
  };
}

/** Methods that change nothing. */
export const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * With the port: browsers send cookies of 127.0.0.1 to all its ports, so two sandboxes would overwrite each other's.
 */
function cookieName(origin: string): string {
  return `dropcast_sandbox_${new URL(origin).port}`;
}

/** Not the token itself: browsers send the cookie to every other server on this machine too. */
function sessionOf(adminToken: string): string {
  return createHmac('sha256', adminToken).update('page of the sandbox').digest('base64url');
}

/** In constant time. Hashing first gives both sides the same length. */
function isEqual(given: string | undefined, wanted: string): boolean {
  return given !== undefined && timingSafeEqual(hashOf(given), hashOf(wanted));
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** SameSite admits other ports of this machine, so the origin must be the sandbox's own. */
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

import type { Context, HonoRequest } from 'hono';
import { getCookie } from 'hono/cookie';
import type { PageAccess, Right } from './access.ts';
import { entrancePage, strangerPage } from './layout.ts';

/** Header that a proxy sends to make the page read-only. It can only remove a right, so anybody may send it. */
const ACCESS_HEADER = 'dropcast-access';

/** Returns the visitor's right; null for strangers. */
export function rightOf(context: Context, access: PageAccess): Right | null {
  const { req } = context;
  const right = access.rightOf(req.header('authorization') ?? null, getCookie(context, cookieName(req)) ?? null);
  return right === 'change' && req.header(ACCESS_HEADER) === 'look' ? 'look' : right;
}

/** Explains how to sign in: to browsers as a page, to programs as text. */
export function turnAway(context: Context): Response | Promise<Response> {
  context.header('www-authenticate', 'Bearer realm="dropcast"');
  return tell(context, '', 401);
}

/**
 * Redeems a link's code and sets the cookie. Responds without a redirect: after a link on another site, browsers
 * attribute the redirected request to that site and omit SameSite=Strict cookies.
 */
export function enter(context: Context, access: PageAccess): Response | Promise<Response> {
  const code = context.req.query('code') ?? '';
  // Mail and chat programs fetch links with HEAD, which must not use up the code.
  const session = context.req.method === 'GET' ? access.redeem(code) : null;
  if (session === null) return tell(context, 'This link has already been used or has expired (after 5 minutes).', 401);
  context.header('set-cookie', `${cookieName(context.req)}=${session}; ${ATTRIBUTES}`);
  return context.html(entrancePage());
}

/** Deletes the browser's cookie. */
export function leave(context: Context): Response | Promise<Response> {
  context.header('set-cookie', `${cookieName(context.req)}=; Max-Age=0; ${ATTRIBUTES}`);
  return tell(context, 'You are signed out.', 200);
}

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

function tell(context: Context, why: string, status: 200 | 401): Response | Promise<Response> {
  const isBrowser = context.req.header('accept')?.includes('text/html') === true;
  if (isBrowser) return context.html(strangerPage(why), status);
  return context.text(
    `${why} Run \`dropcast open\` on this machine and open the link that it prints.\n`.trimStart(),
    status,
  );
}

/** The name includes the port: cookies ignore ports, and two daemons may share a machine. */
function cookieName(request: HonoRequest): string {
  const [, port = '80'] = /:(\d+)$/.exec(request.header('host') ?? '') ?? [];
  return `dropcast-${port}`;
}

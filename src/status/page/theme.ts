import type { Html, Theme } from '@dropcast/pages';
import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { limitedBody } from '../../http/limited-body.ts';

const COOKIE = 'dropcast-theme';

/** Returns the colour scheme that the reader chose; undefined: that of the system. */
export function themeOf(context: Context): Theme | undefined {
  const chosen = getCookie(context, COOKIE);
  return chosen === 'light' || chosen === 'dark' ? chosen : undefined;
}

/** A button that changes to the next colour scheme: that of the system, dark, light. */
export function themeSwitch(theme: Theme | undefined): Html {
  const next = theme === undefined ? 'dark' : theme === 'dark' ? 'light' : 'system';
  const words = `Colours: ${theme ?? 'system'}`;
  return html`<form method="post" action="/theme">
    <button name="to" value="${next}" title="${words}; change to ${next}">${words}</button>
  </form>`;
}

/** Sets the reader's colour scheme, and returns to the view that the form was on. */
export async function chooseTheme(context: Context): Promise<Response> {
  const body = await limitedBody(context.req.raw);
  const to = new URLSearchParams(new TextDecoder().decode(body ?? undefined)).get('to');
  const isChosen = to === 'light' || to === 'dark';
  // Browsers keep a cookie for at most 400 days.
  const maxAge = isChosen ? 400 * 24 * 3600 : 0;
  setCookie(context, COOKIE, isChosen ? to : '', { path: '/', httpOnly: true, sameSite: 'Strict', maxAge });
  const from = URL.parse(context.req.header('referer') ?? '');
  const isOwn = from !== null && from.host === context.req.header('host')?.toLowerCase();
  return context.redirect(isOwn ? `${from.pathname}${from.search}`.replace(/^\/+/, '/') : '/', 303);
}

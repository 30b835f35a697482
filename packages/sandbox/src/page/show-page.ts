import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Html } from './elements.ts';

/** @returns the answer with a page, which may load nothing from elsewhere and stand in no frame. */
export function showPage(
  context: Context,
  page: Html,
  status: ContentfulStatusCode = 200,
): Response | Promise<Response> {
  return context.html(page, status, HEADERS);
}

const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "img-src 'self'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

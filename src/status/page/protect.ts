import { createMiddleware } from 'hono/factory';
import { isFromElsewhere, isOwnHost } from './own-names.ts';

/** The headers of all answers, and the refusal of other names and other web pages. @param names of this page, without port */
export function protect(names: () => readonly string[]) {
  return createMiddleware(async (context, next) => {
    for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
    if (!isOwnHost(context.req.header('host') ?? '', names()))
      return context.text('Use the address of this page itself, or add the name to status.hosts.\n', 421);
    if (isFromElsewhere(context.req, names())) return context.text('Other web pages may not read this one.\n', 403);
    return next();
  });
}

/** The page loads from itself alone, and appears in no frame. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "img-src 'self'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // Of the page itself alone: a form without it would come from nowhere.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

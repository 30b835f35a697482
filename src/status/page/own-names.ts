import type { HonoRequest } from 'hono';

/**
 * Whether a request names this page in its Host header: by an address, as localhost, or by one of these names. Another name leads here
 * when a foreign page makes its own name mean this machine (DNS rebinding).
 *
 * @param names without port
 */
export function isOwnHost(header: string, names: readonly string[]): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  return (
    name === 'localhost' ||
    names.some((own) => own.toLowerCase() === name) ||
    /^\[[\da-f:.]+\]$|^\d{1,3}(?:\.\d{1,3}){3}$/.test(name)
  );
}

/** Whether a page of another site makes the request: the browser says so. Following a link to this page is allowed. */
export function isFromElsewhere(request: HonoRequest, names: readonly string[]): boolean {
  const origin = request.header('origin');
  if (origin !== undefined && !(URL.canParse(origin) && isOwnHost(new URL(origin).host, names))) return true;
  return request.header('sec-fetch-site') === 'cross-site' && request.header('sec-fetch-mode') !== 'navigate';
}

/**
 * Whether this page sent the form. Another port of the same machine may belong to another user, and browsers send cookies there,
 * so both the origin and what the browser says of it have to be right; one of them has to be there.
 */
export function isFromThisPage(request: HonoRequest): boolean {
  const origin = request.header('origin');
  const site = request.header('sec-fetch-site');
  if (origin === undefined && site === undefined) return false;
  const isOwnOrigin =
    origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.header('host')?.toLowerCase());
  return isOwnOrigin && (site === undefined || site === 'same-origin');
}

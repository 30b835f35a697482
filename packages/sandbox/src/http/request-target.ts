import type { IncomingMessage } from 'node:http';

/**
 * Gives the request's target one form, so that routes, journal and planned faults see the same: a whole address (RFC
 * 9112 section 3.2.2) becomes its path and query, dot segments are resolved, and `%76` is `v` (RFC 3986 section 6.2.2).
 * @param isOwnHost of a name or address without a port; see `ownHosts` @returns whether it is for this service
 */
export function straightenTarget(request: IncomingMessage, isOwnHost: (host: string) => boolean): boolean {
  const [host = '', ...others] = request.headersDistinct['host'] ?? [];
  const target = targetOf(request.url ?? '');
  if (target) request.url = target.path;
  return others.length === 0 && [host, target?.host ?? host].every((named) => isOwnHost(nameIn(named)));
}

interface Target {
  /** Set for an absolute address. */
  readonly host?: string;
  /** With the query. */
  readonly path: string;
}

/** @returns undefined for a target that is neither a path nor an http address; the handler refuses it */
function targetOf(target: string): Target | undefined {
  if (target.includes('\\')) return undefined; // URL treats it as a slash
  const url = URL.parse(target.startsWith('/') ? `http://localhost${target}` : target);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  const path = url.pathname.replaceAll(/%[0-9a-f]{2}/gi, plainly) + url.search;
  return target.startsWith('/') ? { path } : { host: url.host, path };
}

/** Letters, digits, `-`, `.`, `_` and `~` mean the same with and without encoding, and nothing else does. */
function plainly(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : encoded;
}

/** @returns the Host header without its port, '' for one that is not valid */
function nameIn(host: string): string {
  return URL.parse(`http://${host}`)?.hostname ?? '';
}

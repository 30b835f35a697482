import type { IncomingMessage } from 'node:http';

/**
 * Normalises the request target, so that routes, journal and planned faults see the same one: an absolute URL (RFC 9112
 * section 3.2.2) becomes its path and query, dot segments are resolved, and `%76` becomes `v` (RFC 3986 section 6.2.2).
 * @param isOwnHost receives a name or address without a port; see `ownHosts` @returns whether the request is for this
 *   service
 */
export function straightenTarget(request: IncomingMessage, isOwnHost: (host: string) => boolean): boolean {
  const [host = '', ...others] = request.headersDistinct['host'] ?? [];
  const target = targetOf(request.url ?? '');
  if (target) request.url = target.path;
  return others.length === 0 && [host, target?.host ?? host].every((named) => isOwnHost(nameIn(named)));
}

interface Target {
  /** Set for an absolute URL. */
  readonly host?: string;
  /** Includes the query. */
  readonly path: string;
}

/** Parses a target. @returns undefined if it is neither a path nor an http URL; the handler refuses the request */
function targetOf(target: string): Target | undefined {
  if (target.includes('\\')) return undefined; // URL treats it as a slash
  const url = URL.parse(target.startsWith('/') ? `http://localhost${target}` : target);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  const path = url.pathname.replaceAll(/%[0-9a-f]{2}/gi, plainly) + url.search;
  return target.startsWith('/') ? { path } : { host: url.host, path };
}

/** Decodes letters, digits, `-`, `.`, `_` and `~`, the only characters that mean the same with and without encoding. */
function plainly(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : encoded;
}

/** Returns the Host header without its port; '' if it is invalid. */
function nameIn(host: string): string {
  return URL.parse(`http://${host}`)?.hostname ?? '';
}

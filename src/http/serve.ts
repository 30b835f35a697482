import { chmod } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';

/** Where a server listens: a port (0 is any free one), or a unix socket of this mode. */
export type Place = { readonly host: string; readonly port: number } | { readonly path: string; readonly mode: number };

export interface HttpServer extends AsyncDisposable {
  /** 0 for a unix socket. */
  readonly port: number;
}

/** Limits for whoever can reach a server. Commands and pages are small, so nobody needs more. */
export interface HttpLimits {
  /** Most connections at once, of all callers. */
  readonly connections: number;
  /** For a whole request, head and body; also how often it is checked. */
  readonly requestMs: number;
  readonly headerBytes: number;
}

const usualLimits: HttpLimits = { connections: 100, requestMs: 10_000, headerBytes: 16 * 1024 };

/**
 * Serves HTTP.
 *
 * @returns once it listens; disposal closes all connections
 * @throws the error of `listen`, such as EADDRINUSE
 */
export async function serveHttp(
  fetch: (request: Request) => Response | Promise<Response>,
  place: Place,
  limits: Partial<HttpLimits> = {},
): Promise<HttpServer> {
  const { connections, requestMs, headerBytes } = { ...usualLimits, ...limits };
  const server = createAdaptorServer({
    fetch,
    serverOptions: {
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: requestMs,
      maxHeaderSize: headerBytes,
    },
  });
  server.maxConnections = connections;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    if ('port' in place) server.listen(place.port, place.host, resolve);
    else listenWithMode(place.mode, () => server.listen(place.path, resolve));
  });
  if ('path' in place) await chmod(place.path, place.mode);
  return {
    port: 'port' in place ? (server.address() as AddressInfo).port : 0,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
}

/** The mode is set by umask at birth: between listen and chmod nobody else gets in. */
function listenWithMode(mode: number, listen: () => void): void {
  const before = process.umask(0o777 & ~mode);
  listen();
  process.umask(before);
}

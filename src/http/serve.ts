import { chmod } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { RequestsInHand } from './requests-in-hand.ts';

/** A server's address: a port (0: any free port), or a Unix socket with this mode. */
export type ListenAddress =
  | { readonly host: string; readonly port: number }
  | { readonly path: string; readonly mode: number };

export interface HttpServer extends AsyncDisposable {
  /** The listening port; 0 for a Unix socket. */
  readonly port: number;
}

/** A server's limits. Commands and pages are small, so no caller needs more. */
export interface HttpLimits {
  /** Maximum number of simultaneous connections, from all callers. Each has one request in progress. */
  readonly connections: number;
  /**
   * Time limit for receiving a whole request, head and body. Also the interval of that check, and how long a response
   * may wait for a client that reads nothing.
   */
  readonly requestMs: number;
  readonly headerBytes: number;
  /** Maximum number of unread bytes in all responses together. */
  readonly unreadBytes: number;
}

const usualLimits: HttpLimits = {
  connections: 100,
  requestMs: 10_000,
  headerBytes: 16 * 1024,
  unreadBytes: 16 * 1024 * 1024,
};

/**
 * Serves HTTP within limits: each connection has one request in progress, and the event loop starts one request per
 * turn.
 *
 * @param early answers what it can without reading a body, and returns whether it did; `fetch` gets the rest
 * @returns once the server is listening; disposal closes all connections
 * @throws the error of `listen`, such as EADDRINUSE
 */
export async function serveHttp(
  fetch: Fetch,
  place: ListenAddress,
  limits: Partial<HttpLimits> = {},
  early: Early = () => false,
): Promise<HttpServer> {
  const { connections, requestMs, headerBytes, unreadBytes } = { ...usualLimits, ...limits };
  const inHand = new RequestsInHand();
  const server = createServer(
    {
      headersTimeout: requestMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: requestMs,
      maxHeaderSize: headerBytes,
      requireHostHeader: false,
    },
    inHand.listener(answering(fetch, early, new UnreadAnswers(unreadBytes))),
  );
  inHand.watch(server);
  server.setTimeout(requestMs);
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
        server.closeAllConnections();
      }),
  };
}

type Fetch = (request: Request) => Response | Promise<Response>;
type Early = (request: IncomingMessage, response: ServerResponse) => boolean;

function answering(fetch: Fetch, early: Early, unread: UnreadAnswers): RequestListener {
  const answer = getRequestListener(fetch);
  return (request, response) => {
    // Fires after `requestMs` without a byte in either direction. A response without pending output may still be in
    // preparation.
    response.on('timeout', () => {
      if (response.writableLength > 0) response.destroy();
    });
    if (early(request, response)) unread.add(response);
    else void answer(request, response).then(() => unread.add(response));
  };
}

/** The umask sets the mode at creation, so no other user can connect between listen and chmod. */
function listenWithMode(mode: number, listen: () => void): void {
  const before = process.umask(0o777 & ~mode);
  listen();
  process.umask(before);
}

/**
 * Tracks responses that were written but not read yet. They occupy memory, so each listener limits their total. Beyond
 * it, the connections that have waited longest are destroyed, but never that of the newest response.
 */
class UnreadAnswers {
  readonly #mostBytes: number;
  readonly #unread = new Set<ServerResponse>();

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** @param answer a response whose last byte has been written */
  add(answer: ServerResponse): void {
    if (answer.writableFinished || answer.destroyed) return;
    this.#unread.add(answer);
    answer.once('close', () => this.#unread.delete(answer));
    let bytes = 0;
    for (const { writableLength } of this.#unread) bytes += writableLength;
    for (const oldest of this.#unread) {
      if (bytes <= this.#mostBytes || oldest === answer) return;
      bytes -= oldest.writableLength;
      oldest.destroy();
    }
  }
}

import { chmod } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { getRequestListener } from '@hono/node-server';

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

/** The undocumented callback in Node's HTTP server for each parsed request. */
interface ParsedSocket {
  readonly parser?: { onIncoming?: OnIncoming };
}

/** @returns the parser's next action; see {@link STOP} */
type OnIncoming = (request: IncomingMessage, keepAlive: boolean) => number;

/** Makes the parser drop the remaining bytes of its input. */
const STOP = 2;

/**
 * Limits each connection to one request at a time. Node parses every request in a chunk of 64 KiB, 2,500 of the
 * shortest, and starts all of them. Here, a request that arrives before its predecessor is answered is dropped, and the
 * connection closes after that response: under RFC 9112, section 9.3.2, clients then repeat it. No browser, proxy or
 * HTTP library that we know of pipelines.
 *
 * The remaining requests start one per turn of the event loop, so a listener delays other work by at most the longest
 * single request.
 */
class RequestsInHand {
  readonly #answers = new WeakMap<Socket, ServerResponse>();
  readonly #waiting: (() => void)[] = [];

  /**
   * @param server `requireHostHeader` must be off: otherwise Node itself responds to requests without a host, which
   *   would not be counted
   */
  watch(server: Server): void {
    // Otherwise Node itself responds to these, too.
    server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
    server.on('connection', (socket: Socket & ParsedSocket) => {
      const { parser } = socket;
      const onIncoming = parser?.onIncoming;
      if (parser === undefined || onIncoming === undefined) return;
      parser.onIncoming = (request, keepAlive) => {
        const answer = this.#answers.get(socket);
        if (answer === undefined) return onIncoming(request, keepAlive);
        closeAfter(answer);
        parser.onIncoming = () => STOP;
        return STOP;
      };
    });
  }

  /**
   * Wraps a request handler so that requests start in turn.
   *
   * @param answer called for a connection's first request, and for each later one once its predecessor was answered
   */
  listener(answer: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request;
      if (this.#answers.has(socket)) {
        socket.destroy();
        return;
      }
      this.#answers.set(socket, response);
      response.once('close', () => this.#answers.delete(socket));
      this.#inTurn(() => {
        if (!socket.destroyed) answer(request, response);
      });
    };
  }

  #inTurn(begin: () => void): void {
    this.#waiting.push(begin);
    if (this.#waiting.length === 1) setImmediate(() => this.#next());
  }

  #next(): void {
    this.#waiting[0]?.();
    this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}

function closeAfter(answer: ServerResponse): void {
  if (answer.headersSent) answer.once('finish', () => answer.socket?.destroySoon());
  else answer.shouldKeepAlive = false;
}

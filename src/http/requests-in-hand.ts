import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
export class RequestsInHand {
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

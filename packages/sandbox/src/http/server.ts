import { getRequestListener, type Http2Bindings, type HttpBindings } from '@hono/node-server';
import { once } from 'node:events';
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions, type Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { BackgroundWork } from '../background-work.ts';
import { answerRefusal, lingerThenCut, type Exchange } from './exchange.ts';
import { errorResponse, ApiError } from './api-error.ts';
import type { Journal } from './journal.ts';
import { straightenTarget } from './request-target.ts';
import type { TLSSocket } from 'node:tls';
import { isUploadPath } from './operations.ts';

/** What one port serves. */
export interface PortParts {
  readonly journal: Journal;
  readonly background: BackgroundWork;
  /** Listeners on the plain Node request, by path prefix. */
  readonly raw: Readonly<Record<string, RawListener>>;
  readonly fetch: (request: Request, bindings: HttpBindings | Http2Bindings) => Response | Promise<Response>;
  /** Returns whether the host is this service's; requests for other hosts are refused. */
  readonly isOwnHost: (host: string) => boolean;
  /** Origins whose pages may use the API. */
  readonly corsOrigins: readonly string[];
  /** Wraps the handling of every request for this service. */
  readonly layer: Layer;
  readonly onDefect: (error: unknown) => void;
}

/** Answers the request itself, or calls `proceed`. */
export type Layer = (exchange: Exchange, proceed: (exchange: Exchange) => Promise<void>) => Promise<void>;

/**
 * Answers a request itself. The promise rejects only if there is a bug. `awaitsContinue`: the client is waiting for 100
 * Continue before it sends its body.
 */
export type RawListener = (
  request: IncomingMessage,
  response: ServerResponse,
  awaitsContinue: boolean,
) => Promise<void>;

/** Certificate and key as PEM texts. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** An open port. */
interface Listening {
  readonly server: Server;
  readonly port: number;
  /** Stops listening and closes every connection. */
  close(): Promise<void>;
}

/** Listens on the host; requests get no answer until `serve`. @throws the listen error, for example EADDRINUSE */
export async function listen(host: string, port: number, certificate?: Certificate): Promise<Listening> {
  // A high-water mark above Node's 64 KiB reads a body in fewer, longer runs. requestTimeout is off, because it limits
  // a whole request with its body, and an upload may take hours. A silent socket is still closed.
  const options = { highWaterMark: 1 << 20, requestTimeout: 0, headersTimeout: 30_000, requireHostHeader: false };
  const server = certificate ? httpsServer({ ...options, ...certificate }) : createServer(options);
  server.setTimeout(120_000);
  const connections = connectionsOf(server);
  server.listen(port, host.replace(/^\[(.*)\]$/, '$1'));
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, close: () => close(server, connections) };
}

function httpsServer(options: ServerOptions): Server {
  const server = createHttpsServer(options);
  refusePlainHttp(server);
  return server;
}

/** Starts answering requests on the port. */
export function serve(server: Server, parts: PortParts): void {
  const dispatch = dispatcher(parts);
  server.on('request', (request, response) => dispatch(request, response, false));
  server.on('checkContinue', (request, response) => dispatch(request, response, true));
  server.on('checkExpectation', (_request, response) =>
    answerRefusal(
      response,
      new ApiError('expectation_failed', 'The only supported expectation is 100-continue.'),
      CLOSE,
    ),
  );
  server.on('clientError', answerBrokenRequest);
}

/**
 * Tracks the server's connections, including those that Node's `closeAllConnections` misses: clients that have
 * connected to an https port but sent nothing yet.
 */
function connectionsOf(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return connections;
}

async function close(server: Server, connections: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  for (const socket of connections) socket.destroy();
  await closed;
}

const CLOSE = { Connection: 'close' };

type Dispatch = (request: IncomingMessage, response: ServerResponse, awaitsContinue: boolean) => void;

function dispatcher({ journal, background, raw, fetch, isOwnHost, corsOrigins, layer, onDefect }: PortParts): Dispatch {
  const api = getRequestListener(fetch, {
    overrideGlobalObjects: false, // the sandbox also runs inside other programs
    errorHandler: () =>
      errorResponse(new ApiError('bad_request', 'The request target or the Host header is not valid.'), onDefect),
  });
  const answer = ({ request, response, awaitsContinue }: Exchange): Promise<void> => {
    const listener = Object.entries(raw).find(([prefix]) => request.url?.startsWith(prefix))?.[1];
    if (listener) return listener(request, response, awaitsContinue);
    if (awaitsContinue) response.writeContinue();
    return api(request, response);
  };
  return (request, response, awaitsContinue) => {
    const isForThisService = straightenTarget(request, isOwnHost);
    journal.follow(request, response);
    response.once('finish', () => lingerThenCut(request));
    if (!isForThisService)
      return answerRefusal(
        response,
        new ApiError('misdirected_request', 'The Host header must name this machine, or the host of --external-url.'),
        CLOSE,
      );
    if (answerCors(request, response, corsOrigins)) return;
    background.track(layer({ request, response, awaitsContinue }, answer));
  };
}

/** Answers a request that the HTTP parser could not read. Node's own answer would have no body. */
function answerBrokenRequest(error: ParserError, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, body } = refusalOf(error.code);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}\r\nConnection: close\r\n\r\n${isOfHead(error) ? '' : body}`);
}

interface ParserError extends NodeJS.ErrnoException {
  /** The bytes that could not be parsed. */
  readonly rawPacket?: Buffer;
}

/**
 * Returns whether the broken request was a HEAD. Its client would mistake a body for the next answer (RFC 9110 section
 * 9.3.2).
 */
function isOfHead({ rawPacket }: ParserError): boolean {
  return rawPacket?.toString('latin1', 0, 5) === 'HEAD ';
}

function refusalOf(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return new ApiError('headers_too_large', 'The request headers are too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('request_timeout', 'The request headers took too long.');
  return new ApiError('bad_request', 'This is not a valid HTTP request.');
}

/**
 * Answers a client that speaks plain http to an https port, where Node would only drop the connection (api-spec section
 * 5, rule 5). assumed: 400. A redirect would teach clients to send the key in clear text first.
 */
function refusePlainHttp(server: HttpsServer): void {
  const sockets = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    sockets.set(peer, socket);
    socket.once('close', () => sockets.delete(peer));
  });
  // Prepended, because Node's own listener destroys the connection.
  server.prependListener('tlsClientError', (error: NodeJS.ErrnoException, encrypted: TLSSocket) => {
    if (error.code === 'ERR_SSL_HTTP_REQUEST') sockets.get(peerOf(encrypted))?.end(answer());
  });
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Builds the raw answer. There is no response object, because the bytes never reached the HTTP parser. */
function answer(): string {
  const { status, body } = new ApiError('bad_request', 'This port accepts https only.');
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json`;
  return `${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}

/**
 * Answers cross-origin requests (https://fetch.spec.whatwg.org/#http-cors-protocol). Any page may send a file to an
 * upload address, as with every service that browsers upload to, because knowing the address grants permission. Only
 * pages of `corsOrigins` may use the API: a key does not belong in a page that others load. Handled outside the routes,
 * so that a page can also read refusals and faults. Cookies are never allowed. Feeds and media set their own headers.
 *
 * @param corsOrigins like `http://localhost:5173`; `*` allows every origin
 * @returns whether the request was a preflight and has been answered. Browsers send preflights without a key
 */
function answerCors(request: IncomingMessage, response: ServerResponse, corsOrigins: readonly string[]): boolean {
  const { method, url = '', headers } = request;
  const allowed = allowedFor(url.split('?', 1)[0] ?? '', headers.origin, corsOrigins);
  if (!allowed) return false;
  response.setHeader('Access-Control-Allow-Origin', allowed.origin);
  if (allowed.origin !== '*') response.setHeader('Vary', 'Origin');
  response.setHeader('Access-Control-Expose-Headers', 'Allow, Retry-After');
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  response.writeHead(204, {
    'Access-Control-Allow-Methods': allowed.methods,
    'Access-Control-Allow-Headers': allowed.headers,
    'Access-Control-Max-Age': '600',
  });
  response.end();
  return true;
}

interface Allowed {
  readonly origin: string;
  readonly methods: string;
  readonly headers: string;
}

function allowedFor(path: string, asking: string | undefined, corsOrigins: readonly string[]): Allowed | undefined {
  if (isUploadPath(path)) return { origin: '*', methods: 'PUT', headers: '*' };
  if (!/^\/v1(\/|$)/.test(path)) return undefined;
  const origin = corsOrigins.find((one) => one === '*' || one === asking);
  if (origin === undefined) return undefined;
  // `*` allows the headers that tracing libraries add, but does not cover Authorization.
  return { origin, methods: 'GET, POST, PATCH, DELETE', headers: '*, Authorization' };
}

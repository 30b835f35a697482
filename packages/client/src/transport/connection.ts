import { Agent as HttpAgent } from 'node:http';
import type { AgentOptions, ClientRequest } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { RequestError, TimeoutError } from 'got';
import type { Agents } from 'got';

import { knowsProxies } from '../node-version.ts';
import { codeOf, ConnectionError, RequestTimeoutError } from '../errors.ts';
import type { ServiceError } from '../errors.ts';
import { http2Code, isHttp2, whyNoAnswer } from './connection-words.ts';
import { proxyEnvOf, proxyIn } from './proxy.ts';
import type { ProxyEnvironment } from './proxy.ts';
import { TrustingAgent } from './trusting-agent.ts';
import type { Authorities } from './trusting-agent.ts';

/**
 * How long to try one address of a name before the next, in milliseconds. Node abandons an address when this time is
 * over, so its default (500 ms) excludes every host behind a satellite link. 1.5 s allow for the loss of the first
 * packet, which is sent again after 1 s (RFC 6298 section 2.1).
 */
const addressTimeoutMs = 1_500;

/** The agents made here, which resolve names with the lookup of each request. */
const ours = new WeakSet<object>();

/** A pair of agents, by protocol. */
export interface Connections extends Disposable {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** The longest time that a connection waits for its next request, in milliseconds; the server may ask for less. */
const longestIdleMs = 15_000;

/**
 * Age beyond which a connection gets no further request, in milliseconds: changes of a name's addresses, of a
 * certificate and of a load balancer's hosts take effect within it.
 */
const longestAgeMs = 60_000;

/**
 * Creates agents that open a new connection for every request. A server may close a kept-alive connection just as a
 * request is being written: 13 of 60 POSTs ended in ECONNRESET (measured), each a create request with an unknown
 * outcome.
 *
 * @param proxyEnv for https only
 * @param ca certificates (PEM) to trust in addition to Node's
 */
export function freshConnections(proxyEnv: ProxyEnvironment, ca: Authorities = {}): Connections {
  // Node keeps the connections of any agent whose number is limited, as `Agent.defaultMaxSockets` of the program may do.
  return connections(proxyEnv, ca, { keepAlive: false, maxSockets: Infinity });
}

/**
 * Creates agents that keep connections open, for requests that may be repeated. Idle connections do not keep the
 * process alive. Parameters as for `freshConnections`.
 *
 * @param maxSockets maximum number of connections to one origin; further requests wait
 */
export function keptConnections(proxyEnv: ProxyEnvironment, ca: Authorities = {}, maxSockets = 50): Connections {
  const kept = connections(proxyEnv, ca, {
    keepAlive: true,
    maxSockets,
    maxFreeSockets: 10,
    timeout: longestIdleMs,
  });
  for (const agent of [kept.http, kept.https]) limitAge(agent);
  return kept;
}

function limitAge(agent: HttpAgent): void {
  const firstFree = new WeakMap<Socket, number>();
  // Ahead of Node's own listener, which passes a connection to the next request that waits, and replaces a closed one.
  agent.prependListener('free', (socket: Socket) => {
    const now = performance.now();
    const since = firstFree.get(socket) ?? now;
    firstFree.set(socket, since);
    if (now - since >= longestAgeMs) socket.destroy();
  });
  const keepSocketAlive = agent.keepSocketAlive.bind(agent);
  // A request aborted at once frees its connection before it is up. No `Line` would record the peer.
  // A mock that is kept would look like a real connection to its next request.
  agent.keepSocketAlive = (socket) =>
    isReady(socket as Socket) && !mocked.has(socket as Socket) && keepSocketAlive(socket);
}

function connections(proxyEnv: ProxyEnvironment, ca: Authorities, options: AgentOptions): Connections {
  const proxy = proxyIn(proxyEnv);
  const common = { ...options, autoSelectFamilyAttemptTimeout: addressTimeoutMs };
  // With ALPN, a server that speaks only HTTP/2 refuses the connection, not the request (RFC 7301 section 3.2).
  const protocols = { ALPNProtocols: ['http/1.1'] };
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment has no effect.
  const strict = { rejectUnauthorized: true };
  // No proxy: plain http is only for this machine. A proxy would see the key and the file, and has its own `localhost`.
  const http = new HttpAgent(common);
  const proxied = { proxyEnv: proxyEnvOf(proxyEnv, proxy) };
  const https = new TrustingAgent({ ...common, ...protocols, ...strict, ...proxied }, ca, proxy);
  ours.add(http).add(https);
  return {
    http,
    https,
    [Symbol.dispose]: () => {
      http.destroy();
      https.destroy();
    },
  };
}

/** Warns if this Node cannot use the proxy that the environment names. */
export function warnOfIgnoredProxy(proxyEnv: ProxyEnvironment): void {
  const isWanted = ['HTTPS_PROXY', 'https_proxy'].some((name) => (proxyEnv[name] ?? '') !== '');
  if (knowsProxies || !isWanted) return;
  process.emitWarning(
    'HTTPS_PROXY is ignored: this version of Node does not support proxies; use 22.21, 24.5 or newer',
    'DropcastWarning',
  );
}

/**
 * Timeouts for each stage of a new connection, in milliseconds. A resolver waits 5 s for each of up to three name
 * servers (resolv.conf(5)), so 15 s include the third one.
 */
export const connectTimeouts = { lookup: 15_000, connect: 10_000, secureConnect: 10_000 } as const;

/** The addresses at which TLS verified the peers of open connections. */
const peers = new WeakMap<Socket, string | null>();

/** What mock libraries put in the place of connections. */
const mocked = new WeakSet<Socket>();

/** Connections that have carried a response. Node's `reusedSocket` excludes requests that waited for a connection. */
const used = new WeakSet<Socket>();

/**
 * Tracks whether a request can have left this machine, which is impossible until the connection and its TLS handshake
 * are complete. Also records the peer's address.
 */
export class Line {
  readonly #up = Promise.withResolvers<void>();
  #isUp = false;
  #isMocked = false;
  #isLookedUp = false;
  #isReused = false;
  #isAnswered = false;
  #peer: string | null = null;

  get isUp(): boolean {
    return this.#isUp;
  }

  /**
   * Whether a mock library took the place of the connection. Such libraries connect only after they have seen the whole
   * request, and never answer `Expect`.
   */
  get isMocked(): boolean {
    return this.#isMocked;
  }

  /**
   * Whether the server closed a kept connection before it answered, as it may at any time (RFC 9112 section 9.3.1).
   * Meaningful after a failure.
   */
  get wasStale(): boolean {
    return this.#isReused && !this.#isAnswered;
  }

  /** Resolves when bytes can be sent or a mock takes them; never if the connection fails. */
  get up(): Promise<void> {
    return this.#up.promise;
  }

  /** The address at which TLS verified the peer. Null until then, or behind a proxy tunnel. */
  get peer(): string | null {
    return this.#peer;
  }

  /** Records that the connection looks up its name, which only a real one does. */
  noteLookup(): void {
    this.#isLookedUp = true;
  }

  /** @param looksUp whether a real connection would call `noteLookup` */
  attach(request: ClientRequest, looksUp: boolean): void {
    request.once('socket', (socket) => {
      this.#isReused = request.reusedSocket || used.has(socket);
      request.once('response', () => used.add(socket));
      this.#peer = peers.get(socket) ?? null;
      if (isReady(socket)) return this.#rise();
      const isTls = socket instanceof TLSSocket;
      // Node hands over a tunnel socket already connected, and its remote address is the proxy's.
      const isDirect = socket.connecting;
      // Node begins the lookup before it hands over the socket.
      this.#isMocked = isDirect && looksUp && !this.#isLookedUp;
      if (this.#isMocked) {
        mocked.add(socket);
        this.#up.resolve();
      }
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        if (isTls && isDirect) peers.set(socket, (this.#peer = socket.remoteAddress ?? null));
        this.#rise();
      });
    });
    request.once('response', () => (this.#isAnswered = true));
    // Fallback for sockets whose readiness is not detected above: a finished request has been sent.
    request.once('finish', () => this.#rise());
  }

  #rise(): void {
    this.#isUp = true;
    this.#up.resolve();
  }
}

/** Whether a connection begins with the lookup of the request: not for a literal address, nor with a caller's agent. */
export function beginsWithLookup({ protocol, hostname }: URL, agents: Agents): boolean {
  const agent = protocol === 'https:' ? agents.https : agents.http;
  return typeof agent === 'object' && ours.has(agent) && isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
}

/**
 * A kept connection was closed before the response. Not a failure of the service: the request is repeated on a fresh
 * connection.
 */
export class StaleConnectionError extends ConnectionError {}

/**
 * Translates an error from got, keeping only name, code and message.
 * @param url of the request; the message shows only its origin
 * @param agents of the request
 * @throws the error itself if it does not come from got, which is a bug
 */
export function connectionFailure(error: unknown, line: Line, url: URL, agents: Agents): ServiceError {
  if (!(error instanceof RequestError)) throw error;
  const isTimeout = error instanceof TimeoutError;
  const code = codeOfFailure(error);
  const message = whyNoAnswer({ cause: error.cause, code, url, proxy: proxyOf(url, agents), isUp: line.isUp });
  const facts = { code, cause: error.cause ?? error };
  if (isTimeout) return new RequestTimeoutError(line.isUp, message, facts);
  return new (line.wasStale && isClosed(code) ? StaleConnectionError : ConnectionError)(line.isUp, message, facts);
}

function isClosed(code: string): boolean {
  return code === 'ECONNRESET' || code === 'EPIPE';
}

function codeOfFailure(error: RequestError): string {
  if (error instanceof TimeoutError) return error.event === 'lookup' ? 'lookup_timeout' : 'timeout';
  return isHttp2(error.cause) ? http2Code : (codeOf(error.cause) ?? error.code);
}

function proxyOf({ protocol }: URL, { https }: Agents): URL | null {
  if (protocol !== 'https:' || !(https instanceof TrustingAgent)) return null;
  return https.proxy.kind === 'proxy' ? https.proxy.url : null;
}

function isReady(socket: Socket): boolean {
  if (socket.connecting) return false;
  return !(socket instanceof TLSSocket) || ('secureConnecting' in socket && socket.secureConnecting === false);
}

import { Agent as HttpAgent } from 'node:http';
import type { ClientRequest } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
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

/**
 * Creates agents that open a new connection for every request. A server may close a kept-alive connection just as a
 * request is being written: 13 of 60 POSTs ended in ECONNRESET (measured), each a create request with an unknown
 * outcome. At 1,000 requests an hour the handshakes cost nothing.
 *
 * @param proxyEnv for https only
 * @param ca certificates (PEM) to trust in addition to Node's
 */
export function freshConnections(
  proxyEnv: ProxyEnvironment,
  ca: Authorities = {},
): { readonly http: HttpAgent; readonly https: HttpsAgent } {
  warnOfIgnoredProxy(proxyEnv);
  const proxy = proxyIn(proxyEnv);
  const common = { keepAlive: false, autoSelectFamilyAttemptTimeout: addressTimeoutMs };
  // With ALPN, a server that speaks only HTTP/2 refuses the connection, not the request (RFC 7301 section 3.2).
  const protocols = { ALPNProtocols: ['http/1.1'] };
  // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment has no effect.
  const strict = { rejectUnauthorized: true };
  return {
    // No proxy: plain http is only for this machine. A proxy would see the key and the file, and has its own
    // `localhost`.
    http: new HttpAgent(common),
    https: new TrustingAgent({ ...common, ...protocols, ...strict, proxyEnv: proxyEnvOf(proxyEnv, proxy) }, ca, proxy),
  };
}

function warnOfIgnoredProxy(proxyEnv: ProxyEnvironment): void {
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

/**
 * Tracks whether a request can have left this machine, which is impossible until the connection and its TLS handshake
 * are complete. Also records the peer's address.
 */
export class Line {
  readonly #up = Promise.withResolvers<void>();
  #isUp = false;
  #peer: string | null = null;

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Resolves when bytes can be sent; never if the connection fails. */
  get up(): Promise<void> {
    return this.#up.promise;
  }

  /** The address at which TLS verified the peer. Null until then, or behind a proxy tunnel. */
  get peer(): string | null {
    return this.#peer;
  }

  attach(request: ClientRequest): void {
    request.once('socket', (socket) => {
      if (isReady(socket)) return this.#rise();
      const isTls = socket instanceof TLSSocket;
      // Node hands over a tunnel socket already connected, and its remote address is the proxy's.
      const isDirect = socket.connecting;
      socket.once(isTls ? 'secureConnect' : 'connect', () => {
        if (isTls && isDirect) this.#peer = socket.remoteAddress ?? null;
        this.#rise();
      });
    });
    // Fallback for sockets whose readiness is not detected above: a finished request has been sent.
    request.once('finish', () => this.#rise());
  }

  #rise(): void {
    this.#isUp = true;
    this.#up.resolve();
  }
}

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
  return isTimeout
    ? new RequestTimeoutError(line.isUp, message, facts)
    : new ConnectionError(line.isUp, message, facts);
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

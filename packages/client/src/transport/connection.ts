import { Agent as HttpAgent } from 'node:http';
import type { ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
// Namespace import: an older Node fails to link `getCACertificates` before node-version.ts can report the version.
import * as tls from 'node:tls';
import { RequestError, TimeoutError } from 'got';
import type { Agents } from 'got';

import { knowsProxies } from '../node-version.ts';
import { codeOf, ConnectionError, RequestTimeoutError } from '../errors.ts';
import type { ServiceError } from '../errors.ts';
import { whyNoAnswer } from './connection-words.ts';

/** Environment variables such as `HTTPS_PROXY` and `NO_PROXY`. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

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
  ca?: string,
): { readonly http: HttpAgent; readonly https: HttpsAgent } {
  warnOfIgnoredProxy(proxyEnv);
  const trust = ca === undefined ? {} : { ca: [...knownCertificates(), ca] };
  return {
    // No proxy: plain http is only for this machine. A proxy would see the key and the file, and has its own
    // `localhost`.
    http: new HttpAgent({ keepAlive: false }),
    // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment has no effect.
    https: new HttpsAgent({ keepAlive: false, proxyEnv: { ...proxyEnv }, rejectUnauthorized: true, ...trust }),
  };
}

/**
 * Returns the certificates that Node trusts, because `ca` replaces them all. Before Node 22.15 they exclude those of
 * NODE_EXTRA_CA_CERTS.
 */
function knownCertificates(): readonly string[] {
  const { getCACertificates } = tls as { readonly getCACertificates?: typeof tls.getCACertificates };
  return getCACertificates === undefined ? tls.rootCertificates : getCACertificates('default');
}

function warnOfIgnoredProxy(proxyEnv: ProxyEnvironment): void {
  const isWanted = ['HTTPS_PROXY', 'https_proxy'].some((name) => (proxyEnv[name] ?? '') !== '');
  if (knowsProxies || !isWanted) return;
  process.emitWarning(
    'HTTPS_PROXY is ignored: this version of Node does not support proxies; use 22.21, 24.5 or newer',
    'DropcastWarning',
  );
}

/** Timeouts for each stage of a new connection, in milliseconds. */
export const connectTimeouts = { lookup: 10_000, connect: 10_000, secureConnect: 10_000 } as const;

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
      const isTls = socket instanceof tls.TLSSocket;
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
  const code = isTimeout ? 'timeout' : (codeOf(error.cause) ?? error.code);
  const message = whyNoAnswer({ cause: error.cause, code, url, proxy: proxyOf(url, agents), isUp: line.isUp });
  const facts = { code, cause: error.cause ?? error };
  return isTimeout
    ? new RequestTimeoutError(line.isUp, message, facts)
    : new ConnectionError(line.isUp, message, facts);
}

/** Returns the proxy that the environment configures for https. As in Node, the lower-case name takes precedence. */
function proxyOf({ protocol }: URL, { https }: Agents): URL | null {
  if (!knowsProxies || protocol !== 'https:' || !(https instanceof HttpsAgent)) return null;
  const { proxyEnv = {} } = https.options as { readonly proxyEnv?: ProxyEnvironment };
  return URL.parse(proxyEnv['https_proxy'] || proxyEnv['HTTPS_PROXY'] || '');
}

function isReady(socket: Socket): boolean {
  if (socket.connecting) return false;
  return !(socket instanceof tls.TLSSocket) || ('secureConnecting' in socket && socket.secureConnecting === false);
}

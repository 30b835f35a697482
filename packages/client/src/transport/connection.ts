import { Agent as HttpAgent } from 'node:http';
import type { ClientRequest } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { getCACertificates, TLSSocket } from 'node:tls';
import { RequestError, TimeoutError } from 'got';

import { codeOf, ConnectionError, RequestTimeoutError } from '../errors.ts';
import type { ServiceError } from '../errors.ts';

/** Variables like `HTTPS_PROXY` and `NO_PROXY`. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * A new connection for every request. A connection kept alive may be closed by the server just as we write to it: of 60 POSTs
 * 13 ended in ECONNRESET (measured), and each would be a create request nobody knows the outcome of. At 1,000
 * requests an hour the handshakes cost nothing.
 *
 * @param proxyEnv of https alone
 * @param ca certificates (PEM) to trust beside those that Node trusts by itself
 */
export function freshConnections(
  proxyEnv: ProxyEnvironment,
  ca?: string,
): { readonly http: HttpAgent; readonly https: HttpsAgent } {
  // Naming any certificate takes the place of all known ones, those of NODE_EXTRA_CA_CERTS among them.
  const trust = ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] };
  return {
    // Plain http is for this machine alone. A proxy would get to see the key and the file in it, and has another `localhost`.
    http: new HttpAgent({ keepAlive: false }),
    // Said here, NODE_TLS_REJECT_UNAUTHORIZED=0 of the environment does not count.
    https: new HttpsAgent({ keepAlive: false, proxyEnv: { ...proxyEnv }, rejectUnauthorized: true, ...trust }),
  };
}

/** Of each stage of making a connection, in milliseconds. */
export const connectTimeouts = { lookup: 10_000, connect: 10_000, secureConnect: 10_000 } as const;

/** Knows whether a request can have left this machine: before the connection (and its TLS handshake) stands, nothing can. */
export class Line {
  readonly #up = Promise.withResolvers<void>();
  #isUp = false;

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Resolves when bytes can leave; never, if they never can. */
  get up(): Promise<void> {
    return this.#up.promise;
  }

  attach(request: ClientRequest): void {
    request.once('socket', (socket) => {
      if (isReady(socket)) this.#rise();
      else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => this.#rise());
    });
    // Should a socket be ready in a way we do not know: what was written was sent.
    request.once('finish', () => this.#rise());
  }

  #rise(): void {
    this.#isUp = true;
    this.#up.resolve();
  }
}

/**
 * What a failed request means, without anything of the library's error but name, code and message.
 * @param origin of the other side; never the whole address
 * @throws the error itself if it is none of the library's: a bug
 */
export function connectionFailure(error: unknown, line: Line, origin: string): ServiceError {
  if (!(error instanceof RequestError)) throw error;
  const code = codeOf(error.cause) ?? error.code;
  const facts = { code, cause: error.cause ?? error };
  if (error instanceof TimeoutError) {
    const what = line.isUp ? `${origin} did not answer in time` : `${origin} cannot be reached: no connection in time`;
    return new RequestTimeoutError(line.isUp, what, { ...facts, code: 'timeout' });
  }
  const what = line.isUp ? `the connection to ${origin} broke` : `${origin} cannot be reached`;
  return new ConnectionError(line.isUp, `${what}: ${code}`, facts);
}

function isReady(socket: Socket): boolean {
  if (socket.connecting) return false;
  return !(socket instanceof TLSSocket) || ('secureConnecting' in socket && socket.secureConnecting === false);
}

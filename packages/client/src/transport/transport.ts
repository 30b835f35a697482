import { validateHeaderValue } from 'node:http';
import type { Agents } from 'got';

import type { Answer } from './answer.ts';
import { freshConnections, keptConnections, Line, warnOfIgnoredProxy } from './connection.ts';
import type { Connections } from './connection.ts';
import type { ProxyEnvironment } from './proxy.ts';
import type { Authorities } from './trusting-agent.ts';
import { clientClosed } from '../errors.ts';
import { exchange } from './exchange.ts';
import type { SeenExchange } from './exchange.ts';
import type { ApiRequest } from '../wire/requests.ts';
import { createScrub } from './scrub.ts';
import type { Scrub } from './scrub.ts';
import type { Bandwidth } from '../upload/bandwidth.ts';
import { requestUpload } from '../upload/upload-request.ts';
import type { UploadRequest, UploadWorld } from '../upload/upload-request.ts';
import { createUploadTargets } from '../upload/upload-targets.ts';
import type { VideoClientOptions } from '../client-options.ts';
import { clientVersion } from '../version.ts';

/** A value that must not appear in logs or errors. */
export interface Secret {
  reveal(): string;
}

export interface TransportOptions {
  /** Base address with its version segment, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Origins that receive the key with uploads, besides the origin of `baseUrl`. */
  readonly sendKeyTo: readonly string[];
  /** Timeout for one whole JSON exchange. */
  readonly timeoutMs: number;
  readonly userAgent?: string | undefined;
  /** `HTTPS_PROXY` and `NO_PROXY`; default: the process environment. */
  readonly proxyEnv?: ProxyEnvironment | undefined;
  /** Certificates (PEM) to trust in addition to Node's. */
  readonly ca?: Authorities | undefined;
  /** The caller's own agents, which stay open when the transport is closed. */
  readonly agent?: VideoClientOptions['agent'];
  readonly bandwidth?: Bandwidth | undefined;
  /** Called with each answered request. It must not throw. */
  readonly onExchange?: ((exchange: SeenExchange) => void) | undefined;
}

/** Sends requests to the service and its upload addresses: one request per call, never retried, never redirected. */
export class Transport implements AsyncDisposable {
  readonly #options: TransportOptions;
  /** What uploads share; JSON requests use its user agent as well. */
  readonly #uploads: UploadWorld;
  /** For requests that may be repeated; creates get a fresh connection each. */
  readonly #kept: Connections;
  /** For uploads, which would occupy the others for hours. The caller limits their number. */
  readonly #keptUploads: Connections;
  readonly #fresh: Connections;
  /**
   * Origins that may receive the key: the service's, which gets it with every request (api-spec section 5), and those
   * that the caller named.
   */
  readonly #trusted: ReadonlySet<string>;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** @throws TypeError the key or the user agent cannot be sent in a header */
  constructor(options: TransportOptions) {
    requireHeaderValue(options.apiKey.reveal());
    if (options.userAgent !== undefined) validateHeaderValue('user-agent', options.userAgent);
    this.#options = options;
    const {
      baseUrl,
      sendKeyTo,
      apiKey,
      bandwidth,
      onExchange,
      userAgent = `dropcast-client/${clientVersion}`,
    } = options;
    const trusted = new Set([new URL(baseUrl).origin, ...sendKeyTo]);
    this.#trusted = trusted;
    const proxyEnv = options.proxyEnv ?? process.env;
    warnOfIgnoredProxy(proxyEnv);
    this.#kept = keptConnections(proxyEnv, options.ca);
    this.#keptUploads = keptConnections(proxyEnv, options.ca, Infinity);
    this.#fresh = freshConnections(proxyEnv, options.ca);
    this.#uploads = {
      kept: this.#agents(this.#keptUploads),
      fresh: this.#agents(this.#fresh),
      userAgent,
      bandwidth,
      onExchange,
      targets: createUploadTargets({ baseUrl, named: trusted }),
      refusesExpect: new Set(),
      keyFor: (origin) => (trusted.has(origin) ? apiKey.reveal() : null),
    };
  }

  /** Returns a signal that fires with the given one or when the transport is closed. */
  untilClosed(signal?: AbortSignal): AbortSignal {
    return AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
  }

  /** Returns a scrub that removes the key and the given secrets. */
  scrub(secrets: readonly string[] = []): Scrub {
    return createScrub([this.#options.apiKey.reveal(), ...secrets]);
  }

  /** Drops headers that would reveal the key to an untrusted origin. @param headers from a response */
  withoutKey(headers: Readonly<Record<string, string>>, origin: string): Readonly<Record<string, string>> {
    if (this.#trusted.has(origin)) return headers;
    const key = this.#options.apiKey.reveal();
    return Object.fromEntries(Object.entries(headers).filter(([, value]) => !value.includes(key)));
  }

  /**
   * Sends one request to the service and returns its response.
   *
   * @throws {ServiceError} no response, or an endless one
   * @throws {StaleConnectionError} the server had closed a kept connection; with `isFresh` there is none
   */
  ask(
    request: ApiRequest<unknown>,
    options: { readonly signal: AbortSignal; readonly timeoutMs?: number | undefined; readonly isFresh?: boolean },
  ) {
    return this.#track(this.#send(request, options));
  }

  /** Sends one request to an upload address. @throws as `requestUpload` */
  upload(request: UploadRequest): Promise<Answer> {
    const signal = this.untilClosed(request.signal);
    return this.#track(requestUpload({ ...request, signal }, this.#uploads));
  }

  /** Aborts running requests and waits for them to finish. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(clientClosed);
    await Promise.allSettled(this.#running);
    for (const connections of [this.#kept, this.#keptUploads, this.#fresh]) connections[Symbol.dispose]();
  }

  async #send(request: ApiRequest<unknown>, options: Parameters<Transport['ask']>[1]): Promise<Answer> {
    const { signal, timeoutMs, isFresh = false } = options;
    const url = new URL(`${this.#options.baseUrl}${request.path}`);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const line = new Line();
    const answer = await exchange({
      what: request.operation,
      method: request.method,
      url,
      headers: {
        ...request.headers,
        accept: 'application/json',
        'user-agent': this.#uploads.userAgent,
        authorization: `Bearer ${this.#options.apiKey.reveal()}`,
      },
      json: request.json,
      agent: this.#agents(request.isRepeatable && !isFresh ? this.#kept : this.#fresh),
      line,
      signal,
      onExchange: this.#options.onExchange,
      timeoutMs: timeoutMs ?? this.#options.timeoutMs,
    });
    if (url.protocol === 'https:') this.#uploads.targets.provedAt(line.peer);
    return answer;
  }

  /** The caller's agents take the place of ours. */
  #agents(ours: Connections): Agents {
    const { http = ours.http, https = ours.https } = this.#options.agent ?? {};
    return { http, https };
  }

  /** Tracks a running request, so that closing the transport can wait for it. */
  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }
}

function requireHeaderValue(key: string): void {
  if (!/^[\u0021-\u007e]+$/.test(key))
    throw new TypeError('the API key is empty or contains characters that no header can carry');
}

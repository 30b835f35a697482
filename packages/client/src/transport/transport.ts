import { validateHeaderValue } from 'node:http';

import { isSuccess, requestIdOf, serviceError } from './answer.ts';
import type { Answer } from './answer.ts';
import { freshConnections, Line } from './connection.ts';
import type { ProxyEnvironment } from './proxy.ts';
import type { Authorities } from './trusting-agent.ts';
import { throwIfAborted } from '../errors.ts';
import { exchange } from './exchange.ts';
import type { SeenExchange } from './exchange.ts';
import type { ApiRequest } from '../wire/requests.ts';
import { createScrub } from './scrub.ts';
import type { Scrub } from './scrub.ts';
import type { Bandwidth } from '../upload/bandwidth.ts';
import { requestUpload } from '../upload/upload-request.ts';
import type { UploadRequest, UploadWorld } from '../upload/upload-request.ts';
import { createUploadTargets } from '../upload/upload-targets.ts';
import type { UploadTargets } from '../upload/upload-targets.ts';

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
  readonly bandwidth?: Bandwidth | undefined;
  /** Called with each answered request. It must not throw. */
  readonly onExchange?: ((exchange: SeenExchange) => void) | undefined;
}

/** The outcome of one request. Without `status` there was no response. */
export interface Ending {
  readonly status?: number;
  readonly ms: number;
  readonly requestId?: string;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  /** Secrets besides the key that the other side might echo; removed from errors. */
  readonly secrets?: readonly string[] | undefined;
  readonly onEnd?: (ending: Ending) => void;
  /** Called with every response, whatever its status. Must not throw. */
  readonly onAnswer?: (answer: Answer) => void;
}

/** Sends requests to the service and its upload addresses: one request per call, never retried, never redirected. */
export class Transport implements AsyncDisposable {
  readonly #options: TransportOptions;
  readonly #agent: ReturnType<typeof freshConnections>;
  readonly #userAgent: string;
  /**
   * Origins that may receive the key: the service's, which gets it with every request (api-spec section 5), and those
   * that the caller named.
   */
  readonly #trusted: ReadonlySet<string>;
  readonly #targets: UploadTargets;
  readonly #refusesExpect = new Set<string>();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** @throws TypeError the key or the user agent cannot be sent in a header */
  constructor(options: TransportOptions) {
    requireHeaderValue(options.apiKey.reveal());
    if (options.userAgent !== undefined) validateHeaderValue('user-agent', options.userAgent);
    this.#options = options;
    this.#userAgent = options.userAgent ?? 'dropcast';
    this.#agent = freshConnections(options.proxyEnv ?? process.env, options.ca);
    const { baseUrl, sendKeyTo } = options;
    this.#trusted = new Set([new URL(baseUrl).origin, ...sendKeyTo]);
    this.#targets = createUploadTargets({ baseUrl, named: this.#trusted });
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
   * Sends one request and reads its response.
   * @throws {ServiceError} of every kind except those for uploads
   */
  async ask<T>(request: ApiRequest<T>, options: AskOptions): Promise<{ readonly value: T; readonly answer: Answer }> {
    throwIfAborted(options.signal, request.operation);
    const scrub = this.scrub(options.secrets);
    const answering = this.#send(request, options).then((answer) => withRequestId(answer, scrub));
    const answer = await this.#track(noted(answering, options.onEnd));
    options.onAnswer?.(answer);
    if (!isSuccess(answer.status)) throw serviceError(answer, scrub, Date.now());
    return { value: request.read(answer), answer };
  }

  /** Sends one request to an upload address. @throws as `requestUpload` */
  upload(request: UploadRequest): Promise<Answer> {
    const signal = this.untilClosed(request.signal);
    return this.#track(requestUpload({ ...request, signal }, this.#uploadWorld()));
  }

  /** Aborts running requests and waits for them to finish. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the client was closed'));
    await Promise.allSettled(this.#running);
    this.#agent.http.destroy();
    this.#agent.https.destroy();
  }

  #uploadWorld(): UploadWorld {
    const { apiKey, bandwidth, onExchange } = this.#options;
    return {
      agent: this.#agent,
      userAgent: this.#userAgent,
      bandwidth,
      onExchange,
      targets: this.#targets,
      refusesExpect: this.#refusesExpect,
      keyFor: (origin) => (this.#trusted.has(origin) ? apiKey.reveal() : null),
    };
  }

  async #send(request: ApiRequest<unknown>, { signal, timeoutMs }: AskOptions): Promise<Answer> {
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
        'user-agent': this.#userAgent,
        authorization: `Bearer ${this.#options.apiKey.reveal()}`,
      },
      json: request.json,
      agent: this.#agent,
      line,
      signal,
      onExchange: this.#options.onExchange,
      timeoutMs: timeoutMs ?? this.#options.timeoutMs,
    });
    if (url.protocol === 'https:') this.#targets.provedAt(line.peer);
    return answer;
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

async function noted(exchange: Promise<Answer>, onEnd: AskOptions['onEnd']): Promise<Answer> {
  const startedAt = performance.now();
  try {
    const answer = await exchange;
    onEnd?.({ ms: performance.now() - startedAt, ...endingOf(answer) });
    return answer;
  } catch (error) {
    onEnd?.({ ms: performance.now() - startedAt });
    throw error;
  }
}

function endingOf({ status, requestId }: Answer): Pick<Ending, 'status' | 'requestId'> {
  return { status, ...(requestId !== undefined && { requestId }) };
}

/** Adds the request id, already scrubbed, because readers may put it into errors. */
function withRequestId(answer: Answer, scrub: Scrub): Answer {
  return { ...answer, requestId: requestIdOf(answer, scrub) };
}

function requireHeaderValue(key: string): void {
  if (!/^[\u0021-\u007e]+$/.test(key))
    throw new TypeError('the API key is empty or contains characters that no header can carry');
}

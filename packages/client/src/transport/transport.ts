import { validateHeaderValue } from 'node:http';

import { isSuccess, requestIdOf, serviceError } from './answer.ts';
import type { Answer } from './answer.ts';
import { freshConnections, Line } from './connection.ts';
import type { ProxyEnvironment } from './connection.ts';
import { throwIfAborted } from '../errors.ts';
import { exchange } from './exchange.ts';
import type { ApiRequest } from '../wire/requests.ts';
import { createScrub } from './scrub.ts';
import type { Scrub } from './scrub.ts';
import type { Bandwidth } from '../upload/bandwidth.ts';
import { putBody } from '../upload/put-body.ts';
import type { Body, PutOptions, Uploaded, UploadWorld } from '../upload/put-body.ts';
import { createUploadTargets } from '../upload/upload-targets.ts';
import type { UploadTargets } from '../upload/upload-targets.ts';

/** A value that no log and no error shows. */
export interface Secret {
  reveal(): string;
}

export interface TransportOptions {
  /** With its version segment, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: Secret;
  /** Further origins, in addition to that of `baseUrl`, whose uploads receive the key. */
  readonly sendKeyTo: readonly string[];
  /** For one whole JSON exchange. */
  readonly timeoutMs: number;
  readonly userAgent?: string | undefined;
  /** `HTTPS_PROXY` and `NO_PROXY`; default: those of this process. */
  readonly proxyEnv?: ProxyEnvironment | undefined;
  /** Certificates (PEM) to trust in addition to those that Node trusts. */
  readonly ca?: string | undefined;
  readonly bandwidth?: Bandwidth | undefined;
}

/** How one request ended; without `status` there was no answer. */
export interface Ending {
  readonly status?: number;
  readonly ms: number;
  readonly requestId?: string;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  /** Secrets besides the key that the other side might echo: no error shows them. */
  readonly secrets?: readonly string[] | undefined;
  readonly onEnd?: (ending: Ending) => void;
}

/**
 * Carries requests to the service and to its upload addresses: one request per call, never repeated, never redirected.
 */
export class Transport implements AsyncDisposable {
  readonly #options: TransportOptions;
  readonly #agent: ReturnType<typeof freshConnections>;
  readonly #userAgent: string;
  /**
   * Every request to the service carries the key (api-spec section 5); another origin gets it only if the caller named
   * it.
   */
  readonly #trusted: ReadonlySet<string>;
  readonly #targets: UploadTargets;
  readonly #refusesExpect = new Set<string>();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** @throws TypeError for a key or a user agent that no header can carry */
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

  /** A signal that fires with the given one, and when the transport is closed. */
  untilClosed(signal?: AbortSignal): AbortSignal {
    return AbortSignal.any([this.#closing.signal, ...(signal === undefined ? [] : [signal])]);
  }

  /** Removes the key, and the given secrets, from a text of the other side. */
  scrub(secrets: readonly string[] = []): Scrub {
    return createScrub([this.#options.apiKey.reveal(), ...secrets]);
  }

  /** Headers from an answer, without those that would give the key to an origin that may not have it. */
  withoutKey(headers: Readonly<Record<string, string>>, origin: string): Readonly<Record<string, string>> {
    if (this.#trusted.has(origin)) return headers;
    const key = this.#options.apiKey.reveal();
    return Object.fromEntries(Object.entries(headers).filter(([, value]) => !value.includes(key)));
  }

  /**
   * Sends one request and reads its answer.
   * @throws {ServiceError} of every kind except those of uploads
   */
  async ask<T>(request: ApiRequest<T>, options: AskOptions): Promise<{ readonly value: T; readonly answer: Answer }> {
    throwIfAborted(options.signal, request.operation);
    const scrub = this.scrub(options.secrets);
    const answering = this.#send(request, options).then((answer) => withRequestId(answer, scrub));
    const answer = await this.#track(noted(answering, options.onEnd));
    if (!isSuccess(answer.status)) throw serviceError(answer, scrub, Date.now());
    return { value: request.read(answer), answer };
  }

  /** Sends a body to an upload address. @throws as `putBody` */
  put(body: Body, options: PutOptions): Promise<Uploaded> {
    const signal = this.untilClosed(options.signal);
    return this.#track(putBody(body, { ...options, signal }, this.#uploadWorld()));
  }

  /** Aborts running requests, and waits until they have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error('the client was closed'));
    await Promise.allSettled(this.#running);
    this.#agent.http.destroy();
    this.#agent.https.destroy();
  }

  #uploadWorld(): UploadWorld {
    const { apiKey, bandwidth } = this.#options;
    return {
      agent: this.#agent,
      userAgent: this.#userAgent,
      bandwidth,
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
      timeoutMs: timeoutMs ?? this.#options.timeoutMs,
    });
    if (url.protocol === 'https:') this.#targets.provedAt(line.peer);
    return answer;
  }

  /** Closing the transport waits for running requests. */
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

/** Scrubbed at once: a reader of the answer may put the id into an error. */
function withRequestId(answer: Answer, scrub: Scrub): Answer {
  return { ...answer, requestId: requestIdOf(answer, scrub) };
}

function requireHeaderValue(key: string): void {
  if (!/^[\u0021-\u007e]+$/.test(key))
    throw new TypeError('the API key is empty or contains characters that no header can carry');
}

import { callOf } from './call.ts';
import type { Call, RawResponse, WithResponse } from './call.ts';
import { RateLimitedError, ServiceError, throwIfAborted } from './errors.ts';
import { isSuccess, requestIdOf, serviceError } from './transport/answer.ts';
import type { Answer } from './transport/answer.ts';
import { StaleConnectionError } from './transport/connection.ts';
import type { ApiRequest } from './wire/requests.ts';
import { originOf, secretsOfAddress, secretsOfHeaders } from './transport/scrub.ts';
import { rateLimitsOf } from './transport/rate-limit-headers.ts';
import type { Scrub } from './transport/scrub.ts';
import type { Transport } from './transport/transport.ts';
import { UploadForms } from './upload/upload-forms.ts';
import type { ResponseNote, UploadFormStore } from './client-options.ts';
import type { UploadRequest } from './upload/upload-request.ts';
import type { RequestNote } from './request-gate.ts';
import { tell } from './hooks.ts';
import type { Hooks } from './hooks.ts';
import type { RequestGate } from './request-gate.ts';
import { waitBeforeRetry } from './retry.ts';
import type { RetryFacts } from './retry.ts';
import { checkOptions } from './settings.ts';
import type { ClientSettings } from './settings.ts';
import type { Surroundings } from './surroundings.ts';
import { untilAborted } from './until-aborted.ts';
import type { RequestOptions } from './video-client.ts';
import type { WaitNote } from './waiting.ts';
import { requestHeaders } from './wire/request-headers.ts';

export interface CallerParts {
  readonly settings: Pick<ClientSettings, 'maxRetries' | 'maxRetryAfterMs' | 'headers'>;
  readonly hooks: Hooks;
  readonly gate: RequestGate | undefined;
  readonly formStore?: UploadFormStore | undefined;
  readonly surroundings: Surroundings;
}

export interface AskingOptions extends RequestOptions {
  /** Secrets besides the key that the other side might echo. */
  readonly secrets?: readonly string[];
  /** Called with every failure, before the retry decision, and with every stale connection. */
  readonly onFailure?: (error: unknown) => void;
  /** Returns the time left for the call, in milliseconds. A longer wait is not started. Default: no limit. */
  readonly leftMs?: () => number;
}

interface AttemptOptions extends AskingOptions {
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** Whether to use a fresh connection. Default false. */
  readonly isFresh?: boolean;
}

/** Sends requests to the service through the gate and the hooks, and retries them where that is safe. */
export class Caller {
  readonly #transport: Transport;
  readonly #parts: CallerParts;
  /** Number of requests sent to the service. */
  #sent = 0;
  /** How many of them have no answer yet. */
  #unanswered = 0;
  /** Number of the newest request whose answer reported limits. */
  #reported = 0;

  readonly forms: UploadForms;

  constructor(transport: Transport, parts: CallerParts) {
    this.#transport = transport;
    this.#parts = parts;
    this.forms = new UploadForms(parts.formStore, parts.surroundings);
  }

  /**
   * Returns the service's answer, after as many attempts as the request allows.
   * @throws {TypeError} options are out of range
   * @throws {ServiceError} the failure of the last attempt
   */
  async ask<T>(request: ApiRequest<T>, options: AskingOptions = {}): Promise<T> {
    return (await this.#answered(request, options)).data;
  }

  /**
   * Like `ask`, but returns the `Call` of the public methods. @param request called immediately; if it throws, the call
   * rejects
   */
  call<T>(request: () => ApiRequest<T>, options: AskingOptions = {}): Call<T> {
    return callOf((async () => await this.#answered(request(), options))());
  }

  async #answered<T>(given: ApiRequest<T>, options: AskingOptions): Promise<WithResponse<T>> {
    checkOptions(options);
    const own = { ...this.#parts.settings.headers, ...requestHeaders(options.headers) };
    const request = { ...given, headers: { ...own, ...given.headers } };
    const secrets = [...(options.secrets ?? []), ...secretsOfHeaders(own)];
    const signal = this.untilClosed(options.signal);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#askUnlessStale(request, { ...options, secrets, signal, attempt });
      } catch (error) {
        options.onFailure?.(error);
        const { isRepeatable, operation, headers } = request;
        const isKeyed = headers['idempotency-key'] !== undefined;
        const waitMs = waitBeforeRetry(error, { ...this.retryFacts(attempt, options), isRepeatable, isKeyed });
        if (waitMs === null || waitMs > (options.leftMs?.() ?? Infinity)) throw error;
        await this.wait(failedNote(operation, error, waitMs), { ...options, signal });
      }
    }
  }

  /** Sends one request to an upload address; never retried. @throws as `requestUpload` */
  async upload(request: UploadRequest, attempt: number): Promise<Answer> {
    const { url, headers, method } = request;
    const note = { operation: 'upload file', method, path: `${originOf(url)}/…`, attempt };
    const scrub = this.scrub([...secretsOfAddress(url), ...secretsOfHeaders(headers)]);
    return this.#noted(note, scrub, () => this.#transport.upload(request));
  }

  /** Reports a request and its response to the hooks. Adds the request id, scrubbed, because readers may show it. */
  async #noted(note: RequestNote, scrub: Scrub, send: () => Promise<Answer>): Promise<Answer> {
    const { hooks } = this.#parts;
    const startedAt = performance.now();
    let answered: Pick<ResponseNote, 'status' | 'requestId'> = {};
    hooks.request(note);
    try {
      const answer = await send();
      const requestId = requestIdOf(answer, scrub);
      answered = { status: answer.status, ...(requestId !== undefined && { requestId }) };
      return { ...answer, requestId };
    } finally {
      hooks.response({ ...note, ...answered, ms: performance.now() - startedAt });
    }
  }

  /** Returns the facts for the retry decision, except those about the request itself. */
  retryFacts(attempt: number, { maxRetries, ...options }: AskingOptions): Omit<RetryFacts, 'isRepeatable' | 'isKeyed'> {
    const { settings, surroundings } = this.#parts;
    return {
      attempt,
      maxRetries: maxRetries ?? settings.maxRetries,
      maxRetryAfterMs: this.maxRetryAfterMs(options),
      random: surroundings.random(),
    };
  }

  /** Returns a signal that fires with the given one or when the client is closed. */
  untilClosed(signal: AbortSignal | undefined): AbortSignal {
    return this.#transport.untilClosed(signal);
  }

  /** Drops headers that would reveal the key to another origin. @param headers from a response */
  withoutKey(headers: Readonly<Record<string, string>>, origin: string): Readonly<Record<string, string>> {
    return this.#transport.withoutKey(headers, origin);
  }

  scrub(secrets: readonly string[]): Scrub {
    return this.#transport.scrub(secrets);
  }

  /** Reports the reason for a wait, then waits. @throws {AbortedError} the signal fired */
  wait(
    note: WaitNote,
    { onWait, signal }: Pick<RequestOptions, 'onWait'> & { readonly signal: AbortSignal },
  ): Promise<void> {
    this.#parts.hooks.wait(note, onWait);
    return this.#parts.surroundings.sleep(note.ms, signal);
  }

  /** Returns the longest `Retry-After` that this call honours, in milliseconds. */
  maxRetryAfterMs({ maxRetryAfterMs }: Pick<RequestOptions, 'maxRetryAfterMs'>): number {
    return maxRetryAfterMs ?? this.#parts.settings.maxRetryAfterMs;
  }

  elapsed(): number {
    return this.#parts.surroundings.elapsed();
  }

  /** Repeats a request that met a stale connection: no failure, but one more request at the gate. */
  async #askUnlessStale<T>(request: ApiRequest<T>, options: AttemptOptions): Promise<WithResponse<T>> {
    try {
      return await this.#askOnce(request, options);
    } catch (error) {
      if (!(error instanceof StaleConnectionError) || !request.isRepeatable) throw error;
      options.onFailure?.(error);
      return this.#askOnce(request, { ...options, isFresh: true });
    }
  }

  async #askOnce<T>(
    request: ApiRequest<T>,
    { attempt, signal, timeoutMs, isFresh = false, secrets = [], priority }: AttemptOptions,
  ): Promise<WithResponse<T>> {
    const { gate } = this.#parts;
    const note: RequestNote = { operation: request.operation, method: request.method, path: request.path, attempt };
    throwIfAborted(signal, request.operation);
    if (gate !== undefined) {
      const atGate = { ...note, signal, ...(priority !== undefined && { priority }) };
      // Wrapped because a gate may ignore the signal, or reject with its own error when the signal fires.
      await untilAborted((async () => await gate.pass(atGate))(), signal, request.operation);
    }
    throwIfAborted(signal, request.operation);
    const number = (this.#sent += 1);
    this.#unanswered += 1;
    const scrub = this.scrub(secrets);
    try {
      const answer = await this.#noted(note, scrub, () => this.#transport.ask(request, { signal, timeoutMs, isFresh }));
      this.#report(answer, number);
      if (!isSuccess(answer.status)) throw serviceError(answer, scrub, Date.now());
      return { data: request.read(answer), response: responseOf(answer, attempt) };
    } catch (error) {
      if (error instanceof RateLimitedError && gate !== undefined) {
        // `throttled` may be async despite its type; awaiting it keeps a rejection from ending the process.
        const telling = (async (): Promise<unknown> => gate.throttled(error.retryAfterMs, error.code))();
        await untilAborted(telling, signal, request.operation);
      }
      throw error;
    } finally {
      this.#unanswered -= 1;
    }
  }

  /** Passes reported limits to the gate, except those of an older request, which could raise them again. */
  #report({ headers }: Answer, number: number): void {
    const { gate } = this.#parts;
    if (gate?.reported === undefined) return;
    const { limits, ignored } = rateLimitsOf(headers, Date.now());
    if (number < this.#reported || (limits.length === 0 && ignored.length === 0)) return;
    this.#reported = number;
    tell('reported', () => gate.reported?.({ limits, ignored, unanswered: this.#unanswered - 1 }));
  }
}

/** Builds the note for a wait after a transient failure. */
export function failedNote(operation: string, error: unknown, ms: number): WaitNote {
  if (!(error instanceof ServiceError)) return { operation, reason: 'failed', ms };
  return { operation, reason: error.status === 429 ? 'rate limited' : 'failed', ms, error };
}

/** Builds the public response. Its headers are parsed on first use. */
function responseOf({ status, headers, body, requestId }: Answer, attempts: number): RawResponse {
  return {
    status,
    get headers() {
      return new Headers(
        Object.entries(headers).flatMap(([name, value]) =>
          [value ?? []].flat().map((each): [string, string] => [name, each]),
        ),
      );
    },
    body,
    ...(requestId !== undefined && { requestId }),
    attempts,
  };
}

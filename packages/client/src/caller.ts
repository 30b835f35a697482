import { RateLimitedError, throwIfAborted } from './errors.ts';
import { requestIdOf } from './transport/answer.ts';
import type { ApiRequest } from './wire/requests.ts';
import { originOf, secretsOfAddress } from './transport/scrub.ts';
import type { Scrub } from './transport/scrub.ts';
import type { Ending, Transport } from './transport/transport.ts';
import type { Body, PutOptions, Uploaded } from './upload/put-body.ts';
import type { RequestNote } from './client-options.ts';
import type { Hooks } from './hooks.ts';
import type { RequestGate } from './request-gate.ts';
import { waitBeforeRetry } from './retry.ts';
import type { RetryFacts } from './retry.ts';
import { requireRetries, requireTimeout } from './settings.ts';
import type { ClientSettings } from './settings.ts';
import type { Surroundings } from './surroundings.ts';
import { untilAborted } from './until-aborted.ts';
import type { RequestOptions } from './video-client.ts';

export interface CallerParts {
  readonly settings: Pick<ClientSettings, 'maxRetries' | 'maxRetryAfterMs'>;
  readonly hooks: Hooks;
  readonly gate: RequestGate | undefined;
  readonly surroundings: Surroundings;
}

export interface AskingOptions extends RequestOptions {
  /** What the other side might echo, beside the key. */
  readonly secrets?: readonly string[];
  /** Replaces that of the client. */
  readonly maxRetryAfterMs?: number;
  /** Called with every failure, before the decision whether to try again. */
  readonly onFailure?: (error: unknown) => void;
}

/** Sends requests to the service, again where that is safe, through the gate and past the hooks. */
export class Caller {
  readonly #transport: Transport;
  readonly #parts: CallerParts;

  constructor(transport: Transport, parts: CallerParts) {
    this.#transport = transport;
    this.#parts = parts;
  }

  /**
   * Returns what the service answers, after as many attempts as the request allows.
   * @throws {TypeError} for options out of their range
   * @throws {ServiceError} the failure of the last attempt
   */
  async ask<T>(request: ApiRequest<T>, options: AskingOptions = {}): Promise<T> {
    checkOptions(options);
    const signal = this.untilClosed(options.signal);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#askOnce(request, { ...options, signal, attempt });
      } catch (error) {
        options.onFailure?.(error);
        const { isRepeatable } = request;
        const waitMs = waitBeforeRetry(error, { ...this.retryFacts(attempt, options), isRepeatable });
        if (waitMs === null) throw error;
        await this.sleep(waitMs, signal);
      }
    }
  }

  /** One PUT to an upload address, never repeated. @throws as `putBody` */
  async put(body: Body, options: PutOptions, attempt: number): Promise<Uploaded> {
    const note = { operation: 'upload file', method: 'PUT', path: `${originOf(options.url)}/…`, attempt };
    const scrub = this.scrub(secretsOfAddress(options.url));
    const startedAt = performance.now();
    let answered: Pick<Ending, 'status' | 'requestId'> = {};
    this.#parts.hooks.request(note);
    try {
      return await this.#transport.put(body, {
        ...options,
        onAnswer: (answer) => {
          const requestId = requestIdOf(answer, scrub);
          answered = { status: answer.status, ...(requestId !== undefined && { requestId }) };
        },
      });
    } finally {
      this.#parts.hooks.response({ ...note, ...answered, ms: performance.now() - startedAt });
    }
  }

  /** The facts for the decision whether to try again, except whether the request may be repeated. */
  retryFacts(attempt: number, { maxRetries, maxRetryAfterMs }: AskingOptions): Omit<RetryFacts, 'isRepeatable'> {
    const { settings, surroundings } = this.#parts;
    return {
      attempt,
      maxRetries: maxRetries ?? settings.maxRetries,
      maxRetryAfterMs: maxRetryAfterMs ?? settings.maxRetryAfterMs,
      random: surroundings.random(),
    };
  }

  /** A signal that fires with the given one, and when the client is closed. */
  untilClosed(signal: AbortSignal | undefined): AbortSignal {
    return this.#transport.untilClosed(signal);
  }

  scrub(secrets: readonly string[]): Scrub {
    return this.#transport.scrub(secrets);
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return this.#parts.surroundings.sleep(ms, signal);
  }

  elapsed(): number {
    return this.#parts.surroundings.elapsed();
  }

  async #askOnce<T>(
    request: ApiRequest<T>,
    {
      attempt,
      signal,
      timeoutMs,
      secrets,
      priority,
    }: AskingOptions & { readonly attempt: number; readonly signal: AbortSignal },
  ): Promise<T> {
    const { hooks, gate } = this.#parts;
    const note: RequestNote = { operation: request.operation, method: request.method, path: request.path, attempt };
    throwIfAborted(signal, request.operation);
    if (gate !== undefined) {
      const atGate = { ...note, signal, ...(priority !== undefined && { priority }) };
      // A gate may ignore the signal, or reject with an error of its own when it fires.
      await untilAborted(
        Promise.try(() => gate.pass(atGate)),
        signal,
        request.operation,
      );
    }
    throwIfAborted(signal, request.operation);
    hooks.request(note);
    const onEnd = (ending: Ending) => hooks.response({ ...note, ...ending });
    try {
      return await this.#transport.ask(request, { signal, timeoutMs, secrets, onEnd });
    } catch (error) {
      if (error instanceof RateLimitedError) gate?.throttled(error.retryAfterMs);
      throw error;
    }
  }
}

/** @throws TypeError for options out of their range */
export function checkOptions({ timeoutMs, maxRetries }: RequestOptions): void {
  if (timeoutMs !== undefined) requireTimeout(timeoutMs);
  if (maxRetries !== undefined) requireRetries(maxRetries);
}

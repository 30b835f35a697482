import type { RateLimit } from './transport/rate-limit-headers.ts';

/**
 * Decides when a request may be sent, so that parts of a program, or several programs, can share an hourly allowance.
 * Every JSON request passes it, including retries. Uploads do not count against the service's limit and bypass it.
 */
export interface RequestGate {
  /**
   * Awaited before each request. If it rejects, the call fails and nothing is sent.
   *
   * @param request the request; stop waiting when its `signal` fires
   */
  pass(request: RequestAtGate): Promise<void>;
  /**
   * Called when the service has answered 429. Awaited if async; its error fails the call.
   *
   * @param retryAfterMs the requested wait, in milliseconds, 1,000 or more; undefined if the response does not state
   *   one
   * @param code the service's error code, which may mean that only a quota of videos is used up
   */
  throttled(retryAfterMs: number | undefined, code: string): void;
  /**
   * Called with the limits that a response reports in its headers, before `throttled`. Not called for a response
   * that reports none, or that answers an older request than the last report. If it throws, the error becomes a process
   * warning.
   */
  reported?(report: RateLimitReport): void;
}

/** The limits that one response reports in `RateLimit`, `X-RateLimit-Remaining` and similar headers. */
export interface RateLimitReport {
  readonly limits: readonly RateLimit[];
  /** Number of requests that are still unanswered, so that `remaining` may not include them. */
  readonly unanswered: number;
  /**
   * Headers with impossible values, which were ignored, each with the reason: `X-RateLimit-Reset: in the past`.
   * Contains no text from the response.
   */
  readonly ignored: readonly string[];
}

/** A request about to be sent. Contains no secrets: only the origin of an upload address appears. */
export interface RequestNote {
  /** The operation in words: `list videos`, `upload file`. */
  readonly operation: string;
  readonly method: string;
  /** Path relative to the base address, without the query. */
  readonly path: string;
  /** Attempt number, from 1. */
  readonly attempt: number;
}

/** A request waiting at a gate. */
export interface RequestAtGate extends RequestNote {
  /** Fires when the caller aborts the call or closes the client. */
  readonly signal: AbortSignal;
  /** The `priority` option of the call. */
  readonly priority?: string;
}

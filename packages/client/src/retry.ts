import { ConnectionError, RateLimitedError, RequestTimeoutError, ServiceError } from './errors.ts';

export interface RetryFacts {
  /** Number of the attempt that has just failed, from 1. */
  readonly attempt: number;
  /** Whether repeating the request is harmless even if the service already carried out an earlier attempt. */
  readonly isRepeatable: boolean;
  /** Whether the request carries an `Idempotency-Key` that the service honours. Default false. */
  readonly isKeyed?: boolean;
  readonly maxRetries: number;
  readonly maxRetryAfterMs: number;
  /** Random number in [0, 1). */
  readonly random: number;
}

/** Backoff bounds, the same as in the Stripe and Mux clients. */
const backoff = { firstMs: 500, mostMs: 8000 } as const;

/**
 * Decides whether and when to retry a failed request.
 *
 * @returns milliseconds to wait; null to give up: the error is permanent, the request must not be repeated, no attempts
 *   are left, or the service asks for a longer wait than allowed
 */
export function waitBeforeRetry(error: unknown, facts: RetryFacts): number | null {
  if (!(error instanceof ServiceError) || facts.attempt > facts.maxRetries) return null;
  if (!isPassing(error) && !(facts.isKeyed === true && isUnderWay(error))) return null;
  if (!facts.isRepeatable && mayHaveHappened(error)) return null;
  return pauseMs(error, facts);
}

/**
 * Returns the longer of the requested wait and the backoff with full jitter; null if the requested wait is too long.
 */
export function pauseMs(
  { retryAfterMs }: Pick<ServiceError, 'retryAfterMs'>,
  { attempt, maxRetryAfterMs, random }: Pick<RetryFacts, 'attempt' | 'maxRetryAfterMs' | 'random'>,
): number | null {
  const jitteredMs = Math.round(random * Math.min(backoff.mostMs, backoff.firstMs * 2 ** (attempt - 1)));
  if (retryAfterMs === undefined) return jitteredMs;
  return retryAfterMs > maxRetryAfterMs ? null : Math.max(retryAfterMs, jitteredMs);
}

/** Whether the same request may succeed if retried soon: no response, 408, 429 or 5xx. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError) return true;
  return error instanceof ServiceError && error.status !== undefined && isPassingStatus(error.status);
}

/** Whether the service may have carried out a request that failed with this error. After a 429 it did not. */
export function mayHaveHappened(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof RequestTimeoutError) return error.sent;
  return isPassing(error) && !(error instanceof RateLimitedError);
}

/**
 * Whether an earlier request with the same key is still in progress, which a service reports as 409
 * (draft-ietf-httpapi-idempotency-key-header section 2.7).
 */
function isUnderWay({ status }: ServiceError): boolean {
  return status === 409;
}

function isPassingStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
